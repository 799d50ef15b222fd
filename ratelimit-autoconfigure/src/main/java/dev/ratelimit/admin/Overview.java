package dev.ratelimit.admin;

import java.security.Principal;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.json.JsonObject;

/**
 * Shows what is in force on this instance: its state, and each policy in short.
 */
public final class Overview {

	private final Counters counters;

	private final Fleet fleet;

	private final String region;

	private final Supplier<@Nullable Nodes> nodes;

	private final Supplier<Map<String, Object>> urls;

	private final SwitchAdmin modeSwitch;

	private final PolicyAdmin policies;

	private final AdminAccess access;

	Overview(Counters counters, Fleet fleet, String region, Supplier<@Nullable Nodes> nodes,
			Supplier<Map<String, Object>> urls, SwitchAdmin modeSwitch, PolicyAdmin policies, AdminAccess access) {
		this.urls = urls;
		this.counters = counters;
		this.fleet = fleet;
		this.region = region;
		this.nodes = nodes;
		this.modeSwitch = modeSwitch;
		this.policies = policies;
		this.access = access;
	}

	public Map<String, Object> show(Fields query, @Nullable Principal principal) {
		this.access.read("overview", principal, query);
		Nodes nodes = this.nodes.get();
		return new JsonObject().with("backend", this.counters.source().text())
			.with("instance", this.fleet.instance())
			.with("fleet", this.fleet.size())
			.with("region", this.region)
			.with("breakers", (nodes != null) ? nodes.texts() : Map.of())
			.with("switch", this.modeSwitch.state())
			.with("urls", this.urls.get())
			.withAll(this.policies.overview());
	}

}
