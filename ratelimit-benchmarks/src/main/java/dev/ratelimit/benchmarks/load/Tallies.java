package dev.ratelimit.benchmarks.load;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A tally for each thread that brings answers, so that they do not wait for each other.
 */
public final class Tallies {

	private final Queue<Tally> all = new ConcurrentLinkedQueue<>();

	private final ThreadLocal<Tally> own = ThreadLocal.withInitial(() -> {
		Tally created = new Tally();
		this.all.add(created);
		return created;
	});

	public void add(long latency, Contender.Outcome outcome) {
		this.own.get().add(latency, outcome);
	}

	/** All together, when no more answers come. */
	public Tally sum(long nanos) {
		Tally sum = new Tally();
		this.all.forEach(sum::add);
		sum.took(nanos);
		return sum;
	}

}
