package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Reading;

/**
 * Refunds into leases: permits of a request that was cheaper than estimated can be spent
 * again here while their lease lives. The rest of such a lease is given back when it
 * ends, at the time at which Redis granted it.
 */
final class Refunds {

	/** Before a lease that has not ended is looked at again. */
	private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final Counters central;

	private final LongSupplier nanos;

	Refunds(Counters central, LongSupplier nanos) {
		this.central = central;
		this.nanos = nanos;
	}

	/**
	 * Corrects counters: leases that paid and still live take refunds, Redis the rest. A
	 * correction that other instances may make is only known to Redis.
	 */
	CompletionStage<Settlement> settle(Correction correction) {
		if (correction.refund() == 0 || correction.isShared()) {
			return this.central.settle(correction);
		}
		List<Reading> rest = new ArrayList<>(correction.grant().readings().size());
		for (Reading reading : correction.grant().readings()) {
			if (!(reading instanceof LeasedReading leased) || !refund(leased.lease(), correction.refund())) {
				rest.add(reading);
			}
		}
		return rest.isEmpty() ? CompletableFuture.completedStage(Settlement.REFUNDED)
				: this.central.settle(correction.with(rest)).thenApply(Settlement.REFUNDED::and);
	}

	private boolean refund(Lease lease, long permits) {
		long now = this.nanos.getAsLong();
		if (lease.isOver(now)) {
			return false;
		}
		lease.putBack(permits);
		if (lease.awaitEnd()) {
			awaitEnd(lease, now);
		}
		return true;
	}

	private void awaitEnd(Lease lease, long now) {
		CompletableFuture
			.delayedExecutor(Math.max(SHORTEST_PAUSE_NANOS, lease.lasts(now)), TimeUnit.NANOSECONDS, Runnable::run)
			.execute(() -> ended(lease));
	}

	private void ended(Lease lease) {
		long now = this.nanos.getAsLong();
		if (!lease.isOver(now)) {
			awaitEnd(lease, now);
			return;
		}
		long left = lease.end();
		if (left > 0) {
			this.central.giveBack(lease.grant(), left);
		}
	}

}
