package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Policy;
import dev.ratelimit.Quota;

/**
 * Validates and compiles the costs of paths. Patterns need spring-web. An application
 * without it has no paths, but its policies may still name them, as they are written for
 * a whole fleet.
 */
public final class PathCosts {

	private static final boolean EFFECTIVE = ClassUtils.isPresent("org.springframework.web.util.pattern.PathPattern",
			PathCosts.class.getClassLoader());

	private PathCosts() {
	}

	/**
	 * Whether this application can have paths.
	 */
	public static boolean effective() {
		return EFFECTIVE;
	}

	/**
	 * Checks the costs of a policy and, where they have an effect, their patterns.
	 * @throws IllegalArgumentException naming the policy, the pattern and the fix
	 */
	public static void validate(Policy policy) {
		policy.settings().costs().forEach((pattern, cost) -> {
			String where = where(policy.id(), pattern);
			if (cost < 0 || cost > Quota.MAX_PERMITS) {
				throw new IllegalArgumentException(where + "must be 0 to " + Quota.MAX_PERMITS + " but was " + cost);
			}
			if (!pattern.startsWith("/")) {
				throw new IllegalArgumentException(where
						+ "a path pattern starts with a slash; in YAML write it in brackets, for example \"[/orders/export/**]\"");
			}
		});
		compile(policy);
	}

	/**
	 * Whether no path costs what is written for this pattern, because it is no reading of
	 * a path.
	 */
	public static boolean isUnreadable(String pattern) {
		try {
			PathReadings.requireReadable(pattern);
			return false;
		}
		catch (IllegalArgumentException ex) {
			return true;
		}
	}

	/**
	 * The costs of paths under a policy, {@code null} if all cost the same.
	 */
	static @Nullable CostPatterns compile(Policy policy) {
		return (EFFECTIVE && !policy.settings().costs().isEmpty()) ? CostPatterns.of(policy) : null;
	}

	static String where(String policy, String pattern) {
		return "policy '" + policy + "', cost of '" + pattern + "': ";
	}

}
