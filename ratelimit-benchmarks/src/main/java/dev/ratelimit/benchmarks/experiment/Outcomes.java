package dev.ratelimit.benchmarks.experiment;

import java.util.List;

/**
 * What an instance has seen while it executed an order. Lists by second begin with the
 * second in which the first check was due.
 *
 * @param checks how many were sent
 * @param seconds how long it took
 * @param p50Micros of all decisions, from the moment at which a check was due
 * @param central latencies of decisions that Redis made, from the call
 * @param local latencies of decisions by leases and remembered refusals, from the call
 * @param errors decisions that ended with an exception
 * @param admitted permits by tracked caller and second, degraded decisions excluded
 * @param passed permits by tracked caller and second, degraded decisions included
 * @param refusedWithin refusals of callers within their limit, degraded ones excluded
 * @param degradedWithin refusals of callers within their limit by the failure mode
 * @param checksWithin decisions for callers within their limit
 * @param bySecond all decisions
 * @param degradedAtMillis from the start until the first degraded decision after one of
 * Redis, each time
 * @param openedAtMillis the same until the first decision by an open breaker
 * @param cpuSeconds processor time of the instance
 */
record Outcomes(long checks, double seconds, double p50Micros, double p99Micros, double p999Micros, Latency central,
		Latency local, long errors, List<List<Long>> admitted, List<List<Long>> passed, long refusedWithin,
		long degradedWithin, long checksWithin, List<Second> bySecond, List<Long> degradedAtMillis,
		List<Long> openedAtMillis, double cpuSeconds) {

	double throughput() {
		return this.checks / this.seconds;
	}

	long degraded() {
		return this.bySecond.stream().mapToLong(Second::degraded).sum();
	}

	double degradedShare() {
		return (double) degraded() / Math.max(1, this.checks);
	}

	/** Permits that counters gave a tracked caller in some seconds. */
	long admitted(int key, int from, int to) {
		return sum(this.admitted.get(key), from, to);
	}

	/** Permits of the requests that passed, by counters or the failure mode. */
	long passed(int key, int from, int to) {
		return sum(this.passed.get(key), from, to);
	}

	private static long sum(List<Long> seconds, int from, int to) {
		return seconds.subList(from, Math.min(to, seconds.size())).stream().mapToLong(Long::longValue).sum();
	}

	/**
	 * Latencies of some of the decisions.
	 *
	 * @param decisions how many there were
	 */
	record Latency(long decisions, double p50Micros, double p99Micros) {
	}

	/**
	 * The decisions on checks that were due in one second.
	 *
	 * @param degraded decided by the failure mode
	 * @param degradedAllowed of these, let pass
	 * @param p99Micros latency of all
	 */
	record Second(long allowed, long refused, long degraded, long degradedAllowed, double p99Micros) {

		long all() {
			return this.allowed + this.refused + this.degraded;
		}

	}

}
