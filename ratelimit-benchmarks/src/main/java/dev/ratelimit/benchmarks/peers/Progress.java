package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.Locale;

import dev.ratelimit.benchmarks.common.TimeLeft;

/**
 * Shows what runs, how far it has come and how long the rest will take.
 */
final class Progress {

	private final Plan plan;

	private final long start = System.nanoTime();

	private int turns;

	private Duration planned = Duration.ZERO;

	Progress(Plan plan) {
		this.plan = plan;
	}

	/** Whether a round will end before this much time has passed since the start. */
	boolean fits(int round, Duration time) {
		return round == 1 || passed().plus(stretched(this.plan.estimate(round))).compareTo(time) < 0;
	}

	void begin(int round, ContenderKind kind) {
		Duration rest = this.planned.negated();
		for (int i = 1; i <= this.plan.rounds(); i++) {
			rest = rest.plus(this.plan.estimate(i));
		}
		System.err.printf("[%d/%d] round %d of %d: %s, %d workload(s); about %s left%n", this.turns + 1,
				this.plan.rounds() * this.plan.contenders().size(), round, this.plan.rounds(), kind,
				this.plan.workloads(kind).size(), TimeLeft.text(stretched(rest)));
		this.turns++;
		this.planned = this.planned.plus(this.plan.estimate(round, kind));
	}

	void show(Workload workload, Measurement each) {
		System.err.printf(Locale.ROOT, "        %-26s %,12.0f checks/s, p99 %,.1f µs%n", workload, each.throughput(),
				each.p99Micros());
	}

	private Duration passed() {
		return Duration.ofNanos(System.nanoTime() - this.start);
	}

	/** What was planned, made longer by as much as what is done took longer. */
	private Duration stretched(Duration duration) {
		double stretch = this.planned.isZero() ? 1 : (double) passed().toMillis() / this.planned.toMillis();
		return Duration.ofMillis((long) (duration.toMillis() * stretch));
	}

}
