package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.limiter.RedSwitch;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.ReplicaState;

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

	private final Fleet fleet;

	private final RedSwitch redSwitch;

	private final Supplier<Map<String, String>> breakers;

	private final Supplier<@Nullable ControlPlane> control;

	public RateLimitHealth(PolicyRateLimiter limiter, Counters counters, Supplier<PolicySet> policies, Fleet fleet,
			RedSwitch redSwitch, Supplier<Map<String, String>> breakers, Supplier<@Nullable ControlPlane> control) {
		this.limiter = limiter;
		this.counters = counters;
		this.policies = policies;
		this.fleet = fleet;
		this.redSwitch = redSwitch;
		this.breakers = breakers;
		this.control = control;
	}

	public Map<String, Object> details() {
		Decision.Reason degraded = this.limiter.degraded();
		Map<String, Object> details = new LinkedHashMap<>();
		details.put("backend", this.counters.source().text());
		details.put("degraded", degraded != null);
		if (degraded != null) {
			details.put("reason", degraded.text());
		}
		details.put("breakers", this.breakers.get());
		FailureMode forced = this.redSwitch.mode();
		details.put("switch", (forced != null) ? forced.name().toLowerCase(Locale.ROOT) : "off");
		details.put("fleet", this.fleet.size());
		details.put("policies", this.policies.get().ids().size());
		ControlPlane control = this.control.get();
		if (control != null) {
			ReplicaState state = control.state();
			details.put("stale", state.stale());
			if (state.incident() != null) {
				details.put("incident", state.incident().text());
			}
			details.put("rejected", control.rejected().size());
		}
		return details;
	}

}
