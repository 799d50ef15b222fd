package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Work;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

/**
 * A request that waits to be sent, and then for its answer.
 */
final class Waiting extends CompletableFuture<Grant> {

	private final List<Counter> counters;

	private final Permits permits;

	private final long since;

	private final long deadline;

	/**
	 * Creates a request.
	 * @param counters of one slot and one algorithm
	 * @param permits how many
	 * @param since 0 to take; otherwise when the permits were taken that are given back
	 * @param timeout after which it need not be sent any more
	 */
	Waiting(List<Counter> counters, Permits permits, long since, Duration timeout) {
		this.counters = counters;
		this.permits = permits;
		this.since = since;
		this.deadline = System.nanoTime() + timeout.toNanos();
	}

	/** Of all its counters. */
	Algorithm algorithm() {
		return this.counters.get(0).spec().algorithm();
	}

	/** How much Redis has to do for it, see {@link Work}. */
	int work() {
		int work = 0;
		for (Counter counter : this.counters) {
			int quotas = counter.spec().limit().quotas().size();
			work += (this.since > 0) ? Work.ofGiveBack(algorithm(), quotas) : Work.of(algorithm(), quotas);
		}
		return work;
	}

	List<Counter> counters() {
		return this.counters;
	}

	Permits permits() {
		return this.permits;
	}

	long since() {
		return this.since;
	}

	long deadline() {
		return this.deadline;
	}

	boolean isOver(long now) {
		return now - this.deadline > 0;
	}

	/**
	 * Whether the same answer comes of asking for both at once, in whole multiples, as of
	 * asking for one after the other.
	 */
	boolean merges(Waiting other) {
		return this.since == 0 && other.since == 0 && isExact() && this.permits.equals(other.permits)
				&& sameCounters(other);
	}

	private boolean isExact() {
		return this.permits.unit() > 0 && this.permits.unit() == this.permits.most();
	}

	private boolean sameCounters(Waiting other) {
		if (this.counters.size() != other.counters.size()) {
			return false;
		}
		for (int i = 0; i < this.counters.size(); i++) {
			Counter mine = this.counters.get(i);
			Counter others = other.counters.get(i);
			if (mine.spec() != others.spec() || !mine.equals(others)) {
				return false;
			}
		}
		return true;
	}

}
