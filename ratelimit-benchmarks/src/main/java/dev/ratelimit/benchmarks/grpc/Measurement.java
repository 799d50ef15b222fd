package dev.ratelimit.benchmarks.grpc;

import java.util.List;
import java.util.function.ToDoubleFunction;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.Median;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.Tally;

/**
 * One case, measured once or, as medians, the result.
 *
 * @param id of the case
 * @param throughput checks per second
 * @param p50Micros latency
 * @param p99Micros latency
 * @param clientCpuMicros processor time of the client per check
 * @param serverCpuMicros processor time of the server per check
 * @param redisCpuMicros processor time of Redis per check
 * @param allowedShare of all checks
 * @param otherCores processors that worked for anything else
 */
record Measurement(String id, double throughput, double p50Micros, double p99Micros, double clientCpuMicros,
		double serverCpuMicros, double redisCpuMicros, double allowedShare, double otherCores) {

	/** Share of checks that may fail, be degraded or be refused. */
	private static final double TOLERATED = 0.005;

	static Measurement of(Case measured, Tally tally, Machine machine, double serverSeconds, double redisSeconds) {
		double checks = Math.max(1, tally.checks());
		double known = machine.ownSeconds() + serverSeconds + redisSeconds;
		return new Measurement(measured.id(), tally.throughput(), tally.micros(50), tally.micros(99),
				machine.ownSeconds() * 1e6 / checks, serverSeconds * 1e6 / checks, redisSeconds * 1e6 / checks,
				tally.share(Contender.Outcome.ALLOWED), Math.max(0, machine.busyCores() - known / tally.seconds()));
	}

	static Measurement median(List<Measurement> rounds) {
		return new Measurement(rounds.get(0).id, median(rounds, Measurement::throughput),
				median(rounds, Measurement::p50Micros), median(rounds, Measurement::p99Micros),
				median(rounds, Measurement::clientCpuMicros), median(rounds, Measurement::serverCpuMicros),
				median(rounds, Measurement::redisCpuMicros), median(rounds, Measurement::allowedShare),
				median(rounds, Measurement::otherCores));
	}

	private static double median(List<Measurement> rounds, ToDoubleFunction<Measurement> number) {
		return Median.of(rounds.stream().map(number::applyAsDouble).toList()).value();
	}

	/** Whether the checks were decided as they should have been: all are allowed. */
	boolean sound() {
		return this.allowedShare > 1 - TOLERATED;
	}

}
