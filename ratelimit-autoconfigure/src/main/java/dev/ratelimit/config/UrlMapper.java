package dev.ratelimit.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.web.UrlLimit;

/**
 * Maps properties to URL entries. An invalid property fails with its name, its value and
 * the fix.
 */
public final class UrlMapper {

	/** Where the entries are in the configuration. */
	public static final String AT = "ratelimit.urls";

	private final Set<Dimension> knownBefore;

	/**
	 * Creates a mapper.
	 * @param knownBefore dimensions that are known before authentication
	 */
	public UrlMapper(Set<Dimension> knownBefore) {
		this.knownBefore = Set.copyOf(knownBefore);
	}

	public List<UrlLimit> map(Map<String, UrlProperties> urls) {
		List<UrlLimit> entries = new ArrayList<>();
		urls.forEach((name, url) -> entries.add(map(name, url)));
		return entries;
	}

	UrlLimit map(String name, UrlProperties url) {
		String at = AT + "." + name;
		require(!url.path().isBlank(), at + ".path", "URL entry '" + name + "' has no path.",
				"Set '" + at + ".path' to a pattern such as /api/**.");
		require(!url.policy().isBlank(), at + ".policy", "URL entry '" + name + "' names no policy.",
				"Set '" + at + ".policy' to the id of a policy under 'ratelimit.policies'.");
		List<String> methods = url.methods().stream().map((method) -> method(at, name, method.strip())).toList();
		Long cost = url.cost();
		require(cost == null || (cost >= 0 && cost <= Quota.MAX_PERMITS), at + ".cost",
				"URL entry '" + name + "': the cost must be 0 to " + Quota.MAX_PERMITS + " but was " + cost + ".",
				"Set '" + at + ".cost' to a number in this range, or leave it out: then the policy's costs decide.");
		String path = url.path().strip();
		try {
			return UrlLimit.of(name, path, methods, url.policy().strip(), cost, url.beforeAuthentication());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidPolicyException(at + ".path",
					"URL entry '" + name + "', path '" + path + "': " + ex.getMessage() + ".",
					"Set '" + at + ".path' to a pattern such as /api/** or /orders/{id}.");
		}
	}

	private static String method(String at, String name, String text) {
		String method = text.toUpperCase(Locale.ROOT);
		require(UrlLimit.METHODS.contains(method), at + ".methods",
				"URL entry '" + name + "' names method '" + text + "', which does not exist.",
				"Did you mean '" + Nearest.of(method, UrlLimit.METHODS) + "'? Set '" + at + ".methods' to some of: "
						+ String.join(", ", UrlLimit.METHODS) + "; or leave it out for all.");
		return method;
	}

	/**
	 * Checks an entry against its policy.
	 * @throws InvalidPolicyException if the policy counts by facts that are not known
	 * when the entry is checked
	 */
	public void requireFitting(UrlLimit entry, Policy policy) {
		Limit limit = tooEarly(entry, policy);
		if (limit != null) {
			throw new InvalidPolicyException(AT + "." + entry.name() + ".before-authentication",
					problem(entry, policy, limit), "Set '" + AT + "." + entry.name()
							+ ".before-authentication' to false, or let policy '" + policy.id() + "' " + fix());
		}
	}

	/**
	 * Checks a changed policy against the entries that name it.
	 * @throws InvalidPolicyException as {@link #requireFitting(UrlLimit, Policy)}, naming
	 * the field of the policy
	 */
	public void requireFitting(List<UrlLimit> entries, Policy policy) {
		for (UrlLimit entry : entries) {
			Limit limit = entry.policy().equals(policy.id()) ? tooEarly(entry, policy) : null;
			if (limit != null) {
				throw new InvalidPolicyException("policy.limits." + limit.name() + ".by", problem(entry, policy, limit),
						"Let the policy " + fix() + " Or set '" + AT + "." + entry.name()
								+ ".before-authentication' to false first.");
			}
		}
	}

	private @Nullable Limit tooEarly(UrlLimit entry, Policy policy) {
		if (!entry.beforeAuthentication()) {
			return null;
		}
		return policy.limits()
			.stream()
			.filter((limit) -> !this.knownBefore.containsAll(limit.by()))
			.findFirst()
			.orElse(null);
	}

	private String problem(UrlLimit entry, Policy policy, Limit limit) {
		String unknown = limit.by()
			.stream()
			.filter((dimension) -> !this.knownBefore.contains(dimension))
			.map(Dimension::name)
			.collect(Collectors.joining(", "));
		return "Limit '" + limit.name() + "' of policy '" + policy.id() + "' counts by " + unknown
				+ ", which is not known before authentication, when URL entry '" + entry.name() + "' is checked.";
	}

	private String fix() {
		return "count by " + Stream.concat(this.knownBefore.stream().map(Dimension::name).sorted(), Stream.of("[]"))
			.collect(Collectors.joining(", ")) + " only.";
	}

	private static void require(boolean condition, String field, String problem, String fix) {
		if (!condition) {
			throw new InvalidPolicyException(field, problem, fix);
		}
	}

}
