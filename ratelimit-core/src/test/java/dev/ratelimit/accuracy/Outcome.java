package dev.ratelimit.accuracy;

import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import dev.ratelimit.Decision;
import dev.ratelimit.Enforcement;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;

/** What became of the checks of one caller. */
final class Outcome {

	/** Times are looked at that begin with each of so many admissions. */
	private static final int STARTS = 100;

	private final Caller caller;

	private final Enforcement enforcement;

	private final int instances;

	private final Counter counter;

	private final Queue<Check> checks = new ConcurrentLinkedQueue<>();

	private long granted;

	private long ended;

	Outcome(Caller caller, Enforcement enforcement, int instances) {
		this.caller = caller;
		this.enforcement = enforcement;
		this.instances = instances;
		this.counter = caller.counter(enforcement);
	}

	void add(Grant grant, long sent, long answered) {
		if (!grant.complete()) {
			throw grant.gaps().get(0).cause();
		}
		this.checks.add(new Check(sent, answered, !grant.refused(), grant.source()));
	}

	/** No more checks are made. */
	void end(long granted) {
		this.granted = granted;
		this.ended = System.nanoTime();
	}

	Caller caller() {
		return this.caller;
	}

	Enforcement enforcement() {
		return this.enforcement;
	}

	int instances() {
		return this.instances;
	}

	Counter counter() {
		return this.counter;
	}

	long asked() {
		return this.checks.size();
	}

	long admitted() {
		return this.checks.stream().filter(Check::admitted).count();
	}

	long refused() {
		return asked() - admitted();
	}

	/** What Redis granted, for checks and for leases. */
	long granted() {
		return this.granted;
	}

	/** What was admitted without asking Redis. */
	long leased() {
		return this.checks.stream()
			.filter((check) -> check.admitted() && check.source() == Decision.Source.LEASE)
			.count();
	}

	/** How much of what the limit had from the first to the last check was admitted. */
	double share() {
		long last = this.checks.stream().mapToLong(Check::sent).max().orElseThrow();
		return admitted() / this.caller.permits((last - first()) / 1e9);
	}

	/** From the first check until all were answered. */
	double seconds() {
		return (this.ended - first()) / 1e9;
	}

	/**
	 * By how many permits more was admitted in any time than the limit has in it, below
	 * zero if there was no such time. Only what was both asked and answered within a time
	 * counts, so that it does not matter how late an answer was seen here: it was decided
	 * in that time.
	 */
	double excess() {
		List<Check> bySent = this.checks.stream()
			.filter(Check::admitted)
			.sorted(Comparator.comparingLong(Check::sent))
			.toList();
		double excess = Double.NEGATIVE_INFINITY;
		for (int from = 0; from < bySent.size(); from += Math.max(1, bySent.size() / STARTS)) {
			long start = bySent.get(from).sent();
			long[] ends = bySent.stream().skip(from).mapToLong(Check::answered).sorted().toArray();
			for (int i = 0; i < ends.length; i++) {
				excess = Math.max(excess, i + 1 - this.caller.permits((ends[i] - start) / 1e9));
			}
		}
		return excess;
	}

	private long first() {
		return this.checks.stream().mapToLong(Check::sent).min().orElseThrow();
	}

	@Override
	public String toString() {
		return this.enforcement + ", " + this.instances + " instances, " + this.caller + ": asked " + asked()
				+ ", admitted " + admitted() + " (" + leased() + " from leases), granted " + this.granted;
	}

	private record Check(long sent, long answered, boolean admitted, Decision.Source source) {
	}

}
