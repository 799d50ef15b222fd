package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.ForcedMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.policy.PolicySet;

/**
 * Reads {@code {"policy": "orders", "limit": "per-tenant", "tenant": "acme", "for": "1h",
 * "split": 4, "reason": "…"}}: a counter by its policy, its limit and a value for each
 * dimension of that limit. What is not understood is an error, and no value is repeated
 * in it.
 *
 * @param request with the values
 * @param limit name of the limit
 * @param left for how long
 * @param split in how many parts, 1 for as many as the limit says
 */
record HotKeyRequest(Request request, String limit, Duration left, int split) {

	static final String EXAMPLE = "Send something like {\"policy\": \"orders\", \"limit\": \"per-tenant\", "
			+ "\"tenant\": \"acme\", \"for\": \"1h\", \"reason\": \"…\"}.";

	private static final List<String> FIELDS = List.of("policy", "limit", "for", "split", "reason");

	static HotKeyRequest parse(Map<String, Object> body, PolicySet policies) {
		if (body.isEmpty()) {
			throw AdminProblem.unreadable(EXAMPLE);
		}
		Policy policy = policy(body.get("policy"), policies);
		Limit limit = limit(body.get("limit"), policy);
		Request request = Request.of(policy.id());
		for (Dimension dimension : limit.by()) {
			request = request.with(dimension, value(body.get(dimension.name()), dimension));
		}
		for (String field : body.keySet()) {
			if (!FIELDS.contains(field) && limit.by().stream().noneMatch((by) -> by.name().equals(field))) {
				throw AdminProblem.invalid(ForcedMode.printable(field), "There is no such field",
						"Use policy, limit, for, split, reason and what the limit counts by: " + limit.by() + ".");
			}
		}
		return new HotKeyRequest(request, limit.name(), SwitchRequest.duration(body.get("for")),
				split(body.get("split")));
	}

	private static int split(@Nullable Object split) {
		if (split == null) {
			return 1;
		}
		if (!(split instanceof Integer parts) || parts < 2 || parts > Limit.MAX_SPLIT) {
			throw AdminProblem.invalid("split",
					"The counter cannot be kept in '" + ForcedMode.printable(split.toString()) + "' parts",
					"Send a whole number from 2 to " + Limit.MAX_SPLIT + ", or leave it out.");
		}
		return parts;
	}

	private static Policy policy(@Nullable Object id, PolicySet policies) {
		Policy policy = (id instanceof String text) ? policies.find(text) : null;
		if (policy == null) {
			throw AdminProblem.invalid("policy", (id != null) ? "There is no such policy" : "The policy is missing",
					"Use one of: " + String.join(", ", policies.ids().stream().sorted().toList()) + ".");
		}
		return policy;
	}

	private static Limit limit(@Nullable Object name, Policy policy) {
		return policy.limits()
			.stream()
			.filter((limit) -> limit.name().equals(name))
			.findFirst()
			.orElseThrow(() -> AdminProblem.invalid("limit",
					(name != null) ? "The policy has no such limit" : "The limit is missing",
					"Use one of: " + String.join(", ", policy.limits().stream().map(Limit::name).toList()) + "."));
	}

	private static String value(@Nullable Object value, Dimension dimension) {
		if (!(value instanceof String text) || text.isEmpty()) {
			throw AdminProblem.invalid(dimension.name(), "The limit counts by this dimension",
					"Send its value as a text.");
		}
		return CallerValue.counted(dimension, text);
	}

}
