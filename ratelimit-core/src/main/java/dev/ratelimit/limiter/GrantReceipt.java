package dev.ratelimit.limiter;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import dev.ratelimit.Receipt;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Statuses;

/**
 * The statuses of a grant, and the right to give its permits back, each of them at most
 * once. Every decision that took permits needs both, so they are one object.
 */
class GrantReceipt extends Statuses implements Receipt {

	private static final AtomicIntegerFieldUpdater<GrantReceipt> RETURNED = AtomicIntegerFieldUpdater
		.newUpdater(GrantReceipt.class, "returned");

	private final Counters counters;

	/** No grant has more permits than an int. */
	private volatile int returned;

	GrantReceipt(Counters counters, Grant grant) {
		super(grant);
		this.counters = counters;
	}

	@Override
	public CompletionStage<Void> giveBack(long permits) {
		long most = Math.min(Math.max(0, permits), grant().permits());
		int before = RETURNED.getAndUpdate(this, (returned) -> (int) Math.min(grant().permits(), returned + most));
		long given = Math.min(most, grant().permits() - before);
		return (given > 0) ? this.counters.giveBack(grant().afterReturn(before), given) : NOTHING.giveBack(0);
	}

	/** What was not given back yet. */
	final Grant left() {
		return grant().afterReturn(this.returned);
	}

	/**
	 * What was not given back. From now on nothing can be given back.
	 */
	final Grant close() {
		return grant().afterReturn(RETURNED.getAndSet(this, (int) grant().permits()));
	}

	final Counters counters() {
		return this.counters;
	}

}
