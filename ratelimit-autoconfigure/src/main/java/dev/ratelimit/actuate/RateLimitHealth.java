package dev.ratelimit.actuate;

import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.Heartbeats;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.store.ReplicaState;

/**
 * Details of the limiter's health. The status is always up: an instance without its
 * counters still answers by failure mode, and an orchestrator that removed it would
 * remove the whole fleet.
 *
 * <p>
 * Uses no health type of Boot, because Boot 4 moved them.
 */
record RateLimitHealth(PolicyRateLimiter limiter, Counters counters, LivePolicies live, Fleet fleet,
		ModeSwitch modeSwitch, Supplier<@Nullable Heartbeats> heartbeats, Supplier<@Nullable Nodes> nodes,
		Supplier<@Nullable ControlPlane> control) {

	Map<String, Object> details() {
		Decision.Reason degraded = degraded();
		Nodes nodes = this.nodes.get();
		FailureMode forced = this.modeSwitch.mode();
		ControlPlane control = this.control.get();
		ReplicaState state = (control != null) ? control.state() : null;
		return new JsonObject().with("backend", this.counters.source().text())
			.with("degraded", degraded != null)
			.with("reason", (degraded != null) ? degraded.text() : null)
			.with("breakers", (nodes != null) ? nodes.texts() : Map.of())
			.with("switch", (forced != null) ? forced.text() : "off")
			.with("fleet", this.fleet.size())
			.with("policies", this.live.current().ids().size())
			.with("rejected", this.live.rejected().size())
			.with("stale", state != null && state.stale())
			.with("incident", (state != null && state.incident() != null) ? state.incident().text() : null);
	}

	/** Heartbeats show an outage before a request does. */
	private Decision.@Nullable Reason degraded() {
		Decision.Reason degraded = this.limiter.degraded();
		Heartbeats heartbeats = this.heartbeats.get();
		return (degraded == null && heartbeats != null && heartbeats.missing()) ? Decision.Reason.UNAVAILABLE
				: degraded;
	}

}
