package dev.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Permits taken in advance. The process spends them until they expire, or gives the rest
 * back before that. Each permit is either spent once or given back once.
 */
public final class Reservation {

	private final Decision decision;

	private final LongSupplier nanoTime;

	private final long expiresAt;

	private final AtomicLong left;

	/**
	 * Creates a reservation that starts now.
	 * @param decision the decision that took the permits
	 * @param expiry time until the permits expire
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
	 * @return whether that many permits were left
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
	 * Ends the reservation and gives back the unspent permits. Expired permits are not
	 * given back.
	 */
	public CompletionStage<Void> release() {
		long unspent = this.left.getAndSet(0);
		return (unspent == 0 || expired()) ? Receipt.NOTHING.giveBack(0) : this.decision.receipt().giveBack(unspent);
	}

	private boolean expired() {
		return this.nanoTime.getAsLong() - this.expiresAt >= 0;
	}

}
