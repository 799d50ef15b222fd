package dev.ratelimit.guard;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Corrected;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.NodeCounters;
import dev.ratelimit.counter.UnansweredException;

/**
 * Corrects counters of one hash tag exactly once, although answers can be lost: it
 * repeats the call until the node answers, for at most 30 seconds. The marker in the
 * store makes repeated calls harmless.
 *
 * <p>
 * Every attempt carries the last time of the node at which it may act. That time stays
 * the same once an attempt was not answered: a node that wakes up after a minute then
 * does nothing, although the marker of an answered attempt may be gone by then.
 */
final class GuardedSettle implements Runnable {

	/** How long after its beginning a correction may be made. */
	static final Duration LASTS = Duration.ofSeconds(30);

	/** How many corrections wait for answers at most. */
	static final int MOST_WAITING = 10_000;

	/** After this time without an answer the call is sent again. */
	private static final Duration ANSWER_WITHIN = Duration.ofSeconds(2);

	private static final long FIRST_PAUSE_MILLIS = 100;

	private static final long LONGEST_PAUSE_MILLIS = 2_000;

	private final NodeCounters counters;

	private final Nodes nodes;

	private final Deadlines deadlines;

	private final AtomicInteger waiting;

	private final Correction correction;

	private final long start = System.nanoTime();

	private final CompletableFuture<Settlement> outcome = new CompletableFuture<>();

	/** Number of the attempt whose answer or timeout is awaited. */
	private final AtomicInteger attempt = new AtomicInteger();

	private volatile long last;

	/** Whether an earlier attempt may have acted. */
	private volatile boolean unanswered;

	GuardedSettle(NodeCounters counters, Nodes nodes, Deadlines deadlines, AtomicInteger waiting,
			Correction correction) {
		this.counters = counters;
		this.nodes = nodes;
		this.deadlines = deadlines;
		this.waiting = waiting;
		this.correction = correction;
		this.last = correction.storeTime(this.start) + LASTS.toNanos() / 1_000;
	}

	/**
	 * Begins, unless too many corrections wait already.
	 */
	CompletableFuture<Settlement> begin() {
		if (this.waiting.incrementAndGet() > MOST_WAITING) {
			end(Settlement.LOST);
		}
		else {
			run();
		}
		return this.outcome;
	}

	@Override
	public void run() {
		int number = this.attempt.get();
		if (left() <= 0) {
			end(Settlement.LOST);
			return;
		}
		try {
			String node = this.counters.node(this.correction.grant().readings().get(0).counter());
			if (this.nodes.get(node).open()) {
				pause(number);
				return;
			}
			Deadlines.Entry entry = this.deadlines.add(() -> answered(number, null, null), ANSWER_WITHIN);
			this.counters.settle(this.correction, this.last).whenComplete((corrected, failure) -> {
				entry.cancel();
				answered(number, corrected, failure);
			});
		}
		catch (RuntimeException ex) {
			answered(number, null, ex);
		}
	}

	private void answered(int number, @Nullable Corrected corrected, @Nullable Throwable failure) {
		if (!this.attempt.compareAndSet(number, number + 1)) {
			return;
		}
		if (corrected == null) {
			this.unanswered = true;
			if (failure != null && UnansweredException.of(failure).reason() == Decision.Reason.CORRUPT) {
				end(Settlement.LOST);
			}
			else {
				pause(number + 1);
			}
			return;
		}
		Settlement outcome = corrected.outcome();
		if (outcome == Settlement.NOTHING && this.unanswered) {
			// Made by an attempt of ours whose answer was lost.
			end(this.correction.outcome(Math.abs(this.correction.permits())));
		}
		else if (outcome != null) {
			end(outcome);
		}
		else if (this.unanswered || this.correction.isShared() && corrected.time() > this.correction.until()) {
			end(Settlement.LOST);
		}
		else {
			// The clock of the node is not where it was expected, and nothing was done.
			this.last = corrected.time() + left() / 1_000;
			run();
		}
	}

	/** Tries again after a while, which grows with the number of attempts. */
	private void pause(int attempts) {
		long longest = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(attempts, 10));
		long millis = ThreadLocalRandom.current().nextLong(longest / 2, longest);
		this.deadlines.add(this, Duration.ofMillis(millis));
	}

	private long left() {
		return LASTS.toNanos() - (System.nanoTime() - this.start);
	}

	private void end(Settlement outcome) {
		this.waiting.decrementAndGet();
		this.outcome.complete(outcome);
	}

}
