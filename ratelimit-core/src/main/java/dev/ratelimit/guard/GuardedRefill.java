package dev.ratelimit.guard;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Refill;

/**
 * A call that takes permits ahead. A class of its own, so that other calls do not carry
 * what only this one needs.
 */
final class GuardedRefill extends GuardedCall {

	private final Refill refill;

	GuardedRefill(GuardedCounters guard, Node node, List<Counter> counters, Permits permits, Duration timeout,
			Refill refill, Consumer<Grant> answer) {
		super(guard, node, counters, permits, timeout, refill.patience(), answer);
		this.refill = refill;
	}

	@Override
	public int need() {
		return 1 + this.refill.waiting();
	}

	@Override
	int unansweredChecks() {
		return 1 + this.refill.takeGivenUp();
	}

}
