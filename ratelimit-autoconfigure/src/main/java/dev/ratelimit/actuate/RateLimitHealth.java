package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.policy.PolicySet;

/**
 * What is to be known about the limiter's health. There are details but no status: an
 * instance whose counters are away still answers, by failure mode, and an orchestrator
 * that took it out of service would take out the whole fleet.
 *
 * <p>
 * Knows no type of Boot's, as those for health are elsewhere in Boot 4.
 */
public final class RateLimitHealth {

	private final PolicyRateLimiter limiter;

	private final Counters counters;

	private final Supplier<PolicySet> policies;

	private final IntSupplier instances;

	public RateLimitHealth(PolicyRateLimiter limiter, Counters counters, Supplier<PolicySet> policies,
			IntSupplier instances) {
		this.limiter = limiter;
		this.counters = counters;
		this.policies = policies;
		this.instances = instances;
	}

	public Map<String, Object> details() {
		Decision.Reason degraded = this.limiter.degraded();
		Map<String, Object> details = new LinkedHashMap<>();
		details.put("backend", this.counters.source().text());
		details.put("degraded", degraded != null);
		if (degraded != null) {
			details.put("reason", degraded.text());
		}
		details.put("fleet", this.instances.getAsInt());
		details.put("policies", this.policies.get().ids().size());
		return details;
	}

}
