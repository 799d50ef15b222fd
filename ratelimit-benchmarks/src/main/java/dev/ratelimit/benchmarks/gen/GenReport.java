package dev.ratelimit.benchmarks.gen;

import java.io.PrintWriter;
import java.util.Locale;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.Tally;

/**
 * What became of the requests of a run. Latency counts from the moment at which a request
 * was due.
 *
 * @param target where they went
 * @param schedule what was sent, in words
 * @param digest of times, callers and costs: equal for equal schedules
 * @param requests how many
 * @param seconds how long the run took
 * @param planned requests per second of the schedule
 * @param reached requests per second that were answered
 * @param allowed share
 * @param refused share
 * @param failed share of errors, lost connections and answers that were not counted
 */
record GenReport(String target, String schedule, String digest, long requests, double seconds, double planned,
		double reached, double allowed, double refused, double failed, double p50Micros, double p99Micros,
		double p999Micros, double maxMicros) {

	static GenReport of(String target, String schedule, Recorded recorded, double planned, Tally tally) {
		return new GenReport(target, schedule, recorded.digest(), tally.checks(), tally.seconds(), planned,
				tally.throughput(), tally.share(Contender.Outcome.ALLOWED), tally.share(Contender.Outcome.REFUSED),
				tally.share(Contender.Outcome.FAILED), tally.micros(50), tally.micros(99), tally.micros(99.9),
				tally.micros(100));
	}

	void print(PrintWriter out) {
		out.printf(Locale.ROOT, "%n%s to %s%n", this.schedule, this.target);
		out.printf(Locale.ROOT, "%,d requests in %.1f s: %,.0f/s of %,.0f/s planned; schedule %s%n", this.requests,
				this.seconds, this.reached, this.planned, this.digest);
		out.printf(Locale.ROOT, "%.2f %% allowed, %.2f %% refused, %.2f %% failed%n", 100 * this.allowed,
				100 * this.refused, 100 * this.failed);
		out.printf(Locale.ROOT,
				"latency from the moment each was due: p50 %,.0f, p99 %,.0f, p99.9 %,.0f, max %,.0f µs%n",
				this.p50Micros, this.p99Micros, this.p999Micros, this.maxMicros);
		out.flush();
	}

}
