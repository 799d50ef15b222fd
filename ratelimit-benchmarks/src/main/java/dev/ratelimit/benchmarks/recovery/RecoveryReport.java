package dev.ratelimit.benchmarks.recovery;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/**
 * What was measured.
 *
 * @param through what the checks went through
 * @param limits leased limits of a check
 * @param rate checks a second that were sent
 * @param seconds before Redis was stopped, while it stood still, and after its return
 * @param startSeconds seconds after the start until all that follow are enforced
 * @param returnSeconds the same after the return of Redis
 */
record RecoveryReport(String redis, String through, int cores, double loadAverage, int keys, int limits, long rate,
		Seconds seconds, int startSeconds, int returnSeconds) {

	private static final double ENFORCED = 0.99;

	/** What is promised. */
	private static final int WITHIN_SECONDS = 5;

	static RecoveryReport of(String redis, String through, int cores, double loadAverage, int keys, int limits,
			Seconds seconds) {
		return new RecoveryReport(redis, through, cores, loadAverage, keys, limits, seconds.rate(), seconds,
				enforcedAfter(seconds.started()), enforcedAfter(seconds.returned()));
	}

	/** Seconds after which all that follow are enforced; their number if none is. */
	private static int enforcedAfter(List<PacedLoad.Second> seconds) {
		int after = seconds.size();
		while (after > 0 && seconds.get(after - 1).undegraded() >= ENFORCED) {
			after--;
		}
		return after;
	}

	boolean passed() {
		return kept(this.startSeconds, this.seconds.started()) && kept(this.returnSeconds, this.seconds.returned());
	}

	/** The last second must be enforced too, however short the run is. */
	private static boolean kept(int after, List<PacedLoad.Second> seconds) {
		return after <= WITHIN_SECONDS && after < seconds.size();
	}

	void print(PrintWriter out) {
		out.printf(Locale.ROOT, "%s; %s; %d cores, load %.1f; %,d keys, %d leased limits, %,d checks/s%n", this.redis,
				this.through, this.cores, this.loadAverage, this.keys, this.limits, this.rate);
		print(out, "start", this.seconds.started());
		print(out, "stopped", this.seconds.stopped());
		print(out, "return", this.seconds.returned());
		out.printf("Below 99 %% undegraded for %d s after the start, %d s after the return of Redis (must: %d)%n",
				this.startSeconds, this.returnSeconds, WITHIN_SECONDS);
		out.flush();
	}

	private static void print(PrintWriter out, String part, List<PacedLoad.Second> seconds) {
		for (int i = 0; i < seconds.size(); i++) {
			PacedLoad.Second second = seconds.get(i);
			out.printf(Locale.ROOT, "%-7s %3d s %,10d sent %,10d answered %6.2f %% undegraded, %.2f processors%n", part,
					i + 1, second.sent(), second.answered(), 100 * second.undegraded(), second.processor());
		}
	}

	/** All seconds, by what Redis did. */
	record Seconds(List<PacedLoad.Second> started, List<PacedLoad.Second> stopped, List<PacedLoad.Second> returned) {

		static Seconds of(List<PacedLoad.Second> all, int stop, int goOn) {
			return new Seconds(all.subList(0, stop), all.subList(stop, goOn), all.subList(goOn, all.size()));
		}

		private long rate() {
			return (sum(this.started) + sum(this.stopped) + sum(this.returned))
					/ (this.started.size() + this.stopped.size() + this.returned.size());
		}

		private static long sum(List<PacedLoad.Second> seconds) {
			return seconds.stream().mapToLong(PacedLoad.Second::sent).sum();
		}

	}

}
