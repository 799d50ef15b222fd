package dev.ratelimit.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.web.DeclaredDimension;
import dev.ratelimit.web.DeclaredDimension.Source;
import dev.ratelimit.web.DimensionResolver;

/**
 * The custom dimensions of an application: the beans, and those of
 * {@code ratelimit.dimensions}. An invalid property fails with its name and the fix.
 */
public final class DimensionMapper {

	private static final String AT = "ratelimit.dimensions.";

	/** The dimension of {@code key} in an annotation. */
	private static final String KEY = "key";

	private DimensionMapper() {
	}

	/**
	 * All custom dimensions by name.
	 * @param beans resolvers by the name of their bean: one named {@code account} or
	 * {@code accountResolver} resolves the dimension {@code account}
	 */
	public static Map<String, DimensionResolver> map(Map<String, DimensionProperties> declared,
			Map<String, DimensionResolver> beans) {
		Map<String, DimensionResolver> dimensions = new HashMap<>();
		beans.forEach((name, resolver) -> dimensions
			.put(name.endsWith("Resolver") ? name.substring(0, name.length() - "Resolver".length()) : name, resolver));
		declared(declared).forEach((name, resolver) -> {
			if (dimensions.putIfAbsent(name, resolver) != null) {
				throw new InvalidPolicyException(AT + name,
						"Dimension '" + name + "' is declared and has a DimensionResolver bean.",
						"Remove '" + AT + name + "' or the bean.");
			}
		});
		return dimensions;
	}

	/**
	 * The declared dimensions by name.
	 */
	public static Map<String, DeclaredDimension> declared(Map<String, DimensionProperties> declared) {
		Map<String, DeclaredDimension> dimensions = new HashMap<>();
		declared.forEach((name, properties) -> dimensions.put(requireName(name), map(AT + name, name, properties)));
		return dimensions;
	}

	/**
	 * Names of all dimensions that policies may count by, sorted.
	 * @param custom names of the custom dimensions; those that no dimension can have are
	 * left out
	 */
	public static Set<String> known(Set<String> custom) {
		Set<String> known = new TreeSet<>(Set.of(KEY));
		Dimension.BUILT_IN.forEach((dimension) -> known.add(dimension.name()));
		custom.stream().filter(Dimension::isName).forEach(known::add);
		return known;
	}

	/**
	 * Names of dimensions whose values callers choose.
	 */
	public static Set<String> chosen(Map<String, DimensionResolver> dimensions) {
		return dimensions.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().verified())
			.map(Map.Entry::getKey)
			.collect(Collectors.toSet());
	}

	private static String requireName(String name) {
		if (name.equals(KEY) || Dimension.isBuiltIn(name)) {
			throw new InvalidPolicyException(AT + name, "Dimension '" + name + "' is built in.",
					"Give '" + AT + name + "' another name.");
		}
		return PolicyMapper.checked("Rename '" + AT + name + "'.", () -> new Dimension(name)).name();
	}

	private static DeclaredDimension map(String at, String name, DimensionProperties properties) {
		List<DeclaredDimension> found = new ArrayList<>();
		add(found, Source.CLAIM, properties.claim());
		add(found, Source.HEADER, properties.header());
		add(found, Source.QUERY, properties.query());
		add(found, Source.COOKIE, properties.cookie());
		add(found, Source.HOST, properties.host() ? "" : null);
		add(found, Source.METHOD, properties.method() ? "" : null);
		if (found.size() != 1 || (found.get(0).name().isBlank() && !found.get(0).knownBeforeAuthentication())) {
			throw new InvalidPolicyException(at,
					"Dimension '" + name + "' must have exactly one source but has " + found.size()
							+ (found.size() == 1 ? " without a name." : "."),
					"Set one of '" + at + ".claim', '.header', '.query' and '.cookie' to a name, or '" + at
							+ ".host' or '.method' to true.");
		}
		return found.get(0);
	}

	private static void add(List<DeclaredDimension> found, Source source, @Nullable String name) {
		if (name != null) {
			found.add(new DeclaredDimension(source, name.strip()));
		}
	}

}
