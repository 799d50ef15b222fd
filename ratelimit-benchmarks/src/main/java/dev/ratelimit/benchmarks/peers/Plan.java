package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.List;

import io.lettuce.core.RedisURI;

/**
 * What is measured, and for how long.
 *
 * @param uri where Redis is
 * @param contenders in their order
 * @param quick whether only what the ratios need
 * @param rounds how often
 * @param deadline of a check, for those that have one
 * @param warmUp time for the compiler, once per contender
 * @param measure time that counts
 */
record Plan(RedisURI uri, List<ContenderKind> contenders, boolean quick, int rounds, Duration deadline, Duration warmUp,
		Duration measure) {

	private static final Duration START = Duration.ofSeconds(2);

	private static final Duration CONNECT = Duration.ofMillis(500);

	/** To make the counters exist. */
	private static final Duration FILL = Duration.ofSeconds(2);

	List<Workload> workloads(ContenderKind kind) {
		return kind.workloads(this.quick);
	}

	/** How many measurements a round has. */
	int workloads() {
		return this.contenders.stream().mapToInt((kind) -> workloads(kind).size()).sum();
	}

	/** Time for each workload to become steady. */
	Duration settle() {
		return this.measure.dividedBy(3);
	}

	/** How long a contender's turn will take. */
	Duration estimate(int round, ContenderKind kind) {
		Duration each = CONNECT.plus(FILL).plus(settle()).plus(this.measure);
		Duration turn = each.multipliedBy(workloads(kind).size());
		return (round > 1) ? turn : turn.plus(START).plus(this.warmUp);
	}

	Duration estimate(int round) {
		return this.contenders.stream().map((kind) -> estimate(round, kind)).reduce(Duration.ZERO, Duration::plus);
	}

}
