package dev.ratelimit.guard;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

/**
 * A call for a request that may be sent again. A class of its own, so that other calls do
 * not carry the attempt.
 */
final class GuardedAttempt extends GuardedCall {

	private final Attempt attempt;

	GuardedAttempt(GuardedCounters guard, Node node, List<Counter> counters, Permits permits, Attempt attempt,
			Duration timeout, Consumer<Grant> answer) {
		super(guard, node, counters, permits, timeout, timeout, answer);
		this.attempt = attempt;
	}

	@Override
	public Attempt attempt() {
		return this.attempt;
	}

}
