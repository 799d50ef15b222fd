package dev.ratelimit;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * A fact about the caller that a limit counts by: one of the constants below, or a custom
 * one.
 *
 * @param name lower case, as written in {@code by}
 */
public record Dimension(String name) {

	private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,31}");

	public static final Dimension USER = new Dimension("user");

	public static final Dimension TENANT = new Dimension("tenant");

	public static final Dimension IP = new Dimension("ip");

	public static final Dimension ROUTE = new Dimension("route");

	public static final Dimension API_KEY = new Dimension("api-key");

	public static final Dimension REGION = new Dimension("region");

	/** All dimensions that are not custom. */
	public static final Set<Dimension> BUILT_IN = Set.of(USER, TENANT, IP, ROUTE, API_KEY, REGION);

	public Dimension {
		if (!isName(name)) {
			throw new IllegalArgumentException("dimension '" + name
					+ "': a name is 1 to 32 lower-case letters, digits and dashes and starts with a letter");
		}
	}

	@Override
	public String toString() {
		return this.name;
	}

	/** Whether a dimension can have this name. */
	public static boolean isName(String name) {
		return NAME.matcher(name).matches();
	}

	/** Whether a name is that of a dimension that is not custom. */
	public static boolean isBuiltIn(String name) {
		return BUILT_IN.stream().anyMatch((dimension) -> dimension.name().equals(name));
	}

}
