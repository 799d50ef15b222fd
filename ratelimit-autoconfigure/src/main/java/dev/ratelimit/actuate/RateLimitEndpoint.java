package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;

import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.policy.PolicySet;

/**
 * The admin API: what is in force. A controller, because an operation of an ordinary
 * endpoint takes flat strings only; Boot keeps the annotation for such cases but has
 * deprecated it, which is why the warning is off in this one class.
 */
@SuppressWarnings("removal")
@org.springframework.boot.actuate.endpoint.web.annotation.RestControllerEndpoint(id = "ratelimit",
		defaultAccess = Access.READ_ONLY)
public class RateLimitEndpoint {

	private final Supplier<PolicySet> policies;

	private final Counters counters;

	private final String region;

	private final int fleet;

	public RateLimitEndpoint(Supplier<PolicySet> policies, Counters counters, String region, int fleet) {
		this.policies = policies;
		this.counters = counters;
		this.region = region;
		this.fleet = fleet;
	}

	@GetMapping("/")
	public Map<String, Object> overview() {
		Map<String, Object> overview = new LinkedHashMap<>();
		overview.put("backend", this.counters.source().text());
		overview.put("region", this.region);
		overview.put("fleet", this.fleet);
		Map<String, Object> policies = new TreeMap<>();
		this.policies.get()
			.policies()
			.forEach((policy) -> policies.put(policy.id(), Map.of("version", policy.version(), "onFailure",
					text(policy.settings().onFailure()), "mode", mode(policy))));
		overview.put("policies", policies);
		return overview;
	}

	@GetMapping("/policies")
	public List<Map<String, Object>> policies() {
		return this.policies.get()
			.policies()
			.stream()
			.sorted((one, other) -> one.id().compareTo(other.id()))
			.map(RateLimitEndpoint::describe)
			.toList();
	}

	@GetMapping("/policies/{id}")
	public ResponseEntity<Map<String, Object>> policy(@PathVariable String id) {
		Policy policy = this.policies.get().find(id);
		return (policy != null) ? ResponseEntity.ok(describe(policy)) : new ResponseEntity<>(HttpStatus.NOT_FOUND);
	}

	private static Map<String, Object> describe(Policy policy) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("id", policy.id());
		described.put("version", policy.version());
		described.put("description", policy.settings().description());
		described.put("owner", policy.settings().owner());
		described.put("algorithm", policy.algorithm().text());
		described.put("mode", mode(policy));
		described.put("onFailure", text(policy.settings().onFailure()));
		described.put("onMissingIdentity", text(policy.settings().onMissingIdentity()));
		Map<String, Object> limits = new LinkedHashMap<>();
		policy.limits()
			.forEach(
					(limit) -> limits.put(limit.name(), Map.of("by", limit.by().stream().map(Object::toString).toList(),
							"quota", limit.quotas().stream().map(Quota::toString).toList())));
		described.put("limits", limits);
		described.put("tiers", policy.settings().tiers().keySet());
		described.put("overrides", policy.settings().overrides().size());
		return described;
	}

	private static String mode(Policy policy) {
		return policy.settings().shadow() ? "shadow" : "enforce";
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT);
	}

}
