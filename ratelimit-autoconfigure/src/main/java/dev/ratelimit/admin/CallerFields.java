package dev.ratelimit.admin;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;

/**
 * Reads which caller a call is about: a policy, one of its limits, and a value for each
 * dimension that the operator knows, as in {@code policy=orders&tenant=acme&user=ann}.
 */
final class CallerFields {

	private CallerFields() {
	}

	static Policy policy(Fields fields, PolicySet policies) {
		String fix = "Use one of those that GET policies lists.";
		Policy policy = (fields.required("policy", fix) instanceof String id) ? policies.find(id) : null;
		if (policy == null) {
			throw AdminProblem.invalid("policy", "There is no such policy", fix);
		}
		return policy;
	}

	/**
	 * A limit of a policy, {@code null} if the field is absent.
	 */
	static @Nullable Limit limit(Fields fields, Policy policy) {
		Object name = fields.value("limit");
		if (name == null) {
			return null;
		}
		return policy.limits()
			.stream()
			.filter((limit) -> limit.name().equals(name))
			.findFirst()
			.orElseThrow(() -> AdminProblem.invalid("limit", "The policy has no such limit", limits(policy)));
	}

	static String limits(Policy policy) {
		return "Use one of: " + String.join(", ", policy.limits().stream().map(Limit::name).toList()) + ".";
	}

	/**
	 * The names of the dimensions that an operator may know of a caller.
	 */
	static Set<String> dimensions(Collection<Policy> policies) {
		Set<String> names = new TreeSet<>();
		Dimension.BUILT_IN.forEach((dimension) -> names.add(dimension.name()));
		policies.forEach((policy) -> policy.limits()
			.forEach((limit) -> limit.by().forEach((dimension) -> names.add(dimension.name()))));
		return names;
	}

	/**
	 * The values of those dimensions that have one.
	 */
	static Map<Dimension, String> values(Fields fields, Collection<String> dimensions) {
		Map<Dimension, String> values = new HashMap<>();
		for (String name : dimensions) {
			if (fields.has(name)) {
				Dimension dimension = new Dimension(name);
				values.put(dimension, counted(dimension, fields.value(name)));
			}
		}
		return values;
	}

	/**
	 * A request of the caller that the values name.
	 */
	static Request request(Policy policy, Map<Dimension, String> values) {
		Request request = Request.of(policy.id());
		for (Map.Entry<Dimension, String> value : values.entrySet()) {
			request = request.with(value.getKey(), value.getValue());
		}
		return request;
	}

	/**
	 * The policy and what names the caller, never the values.
	 * @param others fields that do not name the caller
	 */
	static String target(Fields fields, List<String> others) {
		String by = fields.names()
			.stream()
			.filter((name) -> !others.contains(name))
			.sorted()
			.collect(Collectors.joining(", "));
		return ((fields.value("policy") instanceof String policy) ? policy : "") + " by " + by;
	}

	/**
	 * A value that counters can be found by.
	 */
	static String counted(Dimension dimension, @Nullable Object value) {
		if (!(value instanceof String text)) {
			throw AdminProblem.invalid(dimension.name(), "This value is missing or not a text",
					"Send its value as a text.");
		}
		if (dimension.equals(Dimension.API_KEY) && ApiKeyDigest.is(text)) {
			throw AdminProblem.invalid(dimension.name(), "Requests are counted by the key and not by its digest",
					"Send the key itself.");
		}
		return present(dimension, text);
	}

	/**
	 * A value that a record can be about.
	 */
	static String named(Dimension dimension, String value) {
		requireNoBrokenDigest(dimension, value);
		return present(dimension, value);
	}

	/**
	 * Refuses a value that looks like the digest of an API key but is none.
	 */
	static void requireNoBrokenDigest(Dimension dimension, String value) {
		if (ApiKeyDigest.isBroken(dimension, value)) {
			throw AdminProblem.invalid(dimension.name(), "This begins with sha256: but is not a digest",
					"Send sha256: and 64 hex digits, or the key itself.");
		}
	}

	private static String present(Dimension dimension, String value) {
		if (value.isEmpty()) {
			throw AdminProblem.invalid(dimension.name(), "The value is empty", "Send a value, or leave it out.");
		}
		if (dimension.equals(Dimension.IP) && IpAddress.parse(value) == null) {
			throw AdminProblem.invalid(dimension.name(), "This is not an IP address",
					"Use one such as 203.0.113.7 or 2001:db8::7.");
		}
		return value;
	}

}
