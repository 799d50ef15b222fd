package dev.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Permits that were taken up front. They are spent in-process until they expire; what is
 * left can be given back before that. A permit is spent once or given back once, never
 * both.
 */
public final class Reservation {

	private final Decision decision;

	private final LongSupplier nanoTime;

	private final long expiresAt;

	private final AtomicLong left;

	/**
	 * Creates a reservation that starts now.
	 * @param decision what was granted
	 * @param expiry how long the permits may be spent
	 * @param nanoTime a monotonic clock
	 */
	public Reservation(Decision decision, Duration expiry, LongSupplier nanoTime) {
		this.decision = decision;
		this.nanoTime = nanoTime;
		this.expiresAt = nanoTime.getAsLong() + expiry.toNanos();
		this.left = new AtomicLong(decision.granted());
	}

	public Decision decision() {
		return this.decision;
	}

	/**
	 * Permits that can still be spent, 0 once expired.
	 */
	public long remaining() {
		return expired() ? 0 : this.left.get();
	}

	/**
	 * Spends permits, all of them or none.
	 * @return whether they were there
	 */
	public boolean spend(long permits) {
		if (permits < 0) {
			throw new IllegalArgumentException("permits must not be negative but was " + permits);
		}
		if (expired()) {
			return false;
		}
		long before = this.left.getAndUpdate((left) -> (left >= permits) ? left - permits : left);
		return before >= permits;
	}

	/**
	 * Ends the reservation and gives back what was not spent. What has expired stays
	 * spent.
	 */
	public CompletionStage<Void> release() {
		long unspent = this.left.getAndSet(0);
		return (unspent == 0 || expired()) ? Receipt.NOTHING.giveBack(0) : this.decision.receipt().giveBack(unspent);
	}

	private boolean expired() {
		return this.nanoTime.getAsLong() - this.expiresAt >= 0;
	}

}
