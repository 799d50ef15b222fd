package dev.ratelimit.app.fault;

import java.util.concurrent.Semaphore;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

/**
 * Calls each time as somebody else. It asks the limiter of a gateway directly, which
 * takes a tenth of the time of calls over HTTP.
 */
final class Attacker {

	private static final int AT_ONCE = 64;

	private final RateLimiter limiter;

	private Attacker(RateLimiter limiter) {
		this.limiter = limiter;
	}

	static Attacker of(FaultCase fault) {
		return new Attacker(fault.gateways().get(0).context().getBean(RateLimiter.class));
	}

	/** Makes as many calls, each under another name, and returns when all are decided. */
	void call(String name, int times) {
		Semaphore waiting = new Semaphore(AT_ONCE);
		for (int i = 0; i < times; i++) {
			waiting.acquireUninterruptibly();
			this.limiter.check(Request.of("fault").with(Dimension.TENANT, name + i))
				.whenComplete((decision, failure) -> waiting.release());
		}
		waiting.acquireUninterruptibly(AT_ONCE);
	}

}
