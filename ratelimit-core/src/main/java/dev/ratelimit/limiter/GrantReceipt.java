package dev.ratelimit.limiter;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import dev.ratelimit.Receipt;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;

/**
 * Gives permits of a grant back, each of them once and never more than there were.
 */
final class GrantReceipt extends AtomicLong implements Receipt {

	private final transient Counters counters;

	private final transient Grant grant;

	GrantReceipt(Counters counters, Grant grant) {
		super(grant.permits());
		this.counters = counters;
		this.grant = grant;
	}

	@Override
	public CompletionStage<Void> giveBack(long permits) {
		long before = getAndUpdate((left) -> left - Math.max(0, Math.min(permits, left)));
		long given = Math.max(0, Math.min(permits, before));
		return (given > 0) ? this.counters.giveBack(this.grant, given) : NOTHING.giveBack(0);
	}

}
