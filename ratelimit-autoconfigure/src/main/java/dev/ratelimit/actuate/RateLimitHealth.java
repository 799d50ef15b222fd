package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.limiter.RedSwitch;
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

	private final LivePolicies live;

	private final Fleet fleet;

	private final RedSwitch redSwitch;

	private final Supplier<Map<String, String>> breakers;

	private final Supplier<@Nullable ControlPlane> control;

	public RateLimitHealth(PolicyRateLimiter limiter, Counters counters, LivePolicies live, Fleet fleet,
			RedSwitch redSwitch, Supplier<Map<String, String>> breakers, Supplier<@Nullable ControlPlane> control) {
		this.limiter = limiter;
		this.counters = counters;
		this.live = live;
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
		details.put("policies", this.live.current().ids().size());
		details.put("rejected", this.live.rejected().size());
		ControlPlane control = this.control.get();
		ReplicaState state = (control != null) ? control.state() : null;
		details.put("stale", state != null && state.stale());
		if (state != null && state.incident() != null) {
			details.put("incident", state.incident().text());
		}
		return details;
	}

}
