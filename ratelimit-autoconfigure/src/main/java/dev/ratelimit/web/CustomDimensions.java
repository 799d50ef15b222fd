package dev.ratelimit.web;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Dimension;

/**
 * The resolvers of custom dimensions: those of the application by name, and those of
 * single routes.
 */
final class CustomDimensions {

	private static final Logger logger = LoggerFactory.getLogger(RequestResolver.class);

	private final Map<String, DimensionResolver> resolvers;

	/** By name; names come from the configuration only, so there are few. */
	private final Map<String, Dimension> named = new ConcurrentHashMap<>();

	/** Names whose failure was logged. */
	private final Set<String> failed = ConcurrentHashMap.newKeySet();

	/**
	 * @param logins whether claims of OIDC logins count
	 */
	CustomDimensions(Map<String, DimensionResolver> resolvers, boolean logins) {
		Map<String, DimensionResolver> all = new HashMap<>(resolvers);
		all.keySet().forEach(CustomDimensions::requireNotBuiltIn);
		if (logins) {
			all.replaceAll((name, resolver) -> (resolver instanceof DeclaredDimension declared) ? declared.withLogins()
					: resolver);
		}
		this.resolvers = Map.copyOf(all);
	}

	/**
	 * Passes each dimension with its resolver: those that a policy needs, and those of
	 * the route, which take precedence.
	 */
	void forEach(Iterable<Dimension> needed, Map<String, DimensionResolver> route,
			BiConsumer<Dimension, DimensionResolver> action) {
		for (Dimension dimension : needed) {
			DimensionResolver resolver = this.resolvers.get(dimension.name());
			if (resolver != null && !route.containsKey(dimension.name())) {
				action.accept(dimension, resolver);
			}
		}
		route.forEach((name, resolver) -> action.accept(named(name), resolver));
	}

	/**
	 * Warns once per name, because callers may be able to cause the failure.
	 */
	void warn(String name, String message, Throwable failure) {
		if (this.failed.add(name)) {
			logger.warn(message, failure.getClass().getName());
		}
	}

	static void requireNotBuiltIn(String name) {
		if (Dimension.isBuiltIn(name)) {
			throw new IllegalArgumentException("a DimensionResolver is named '" + name
					+ "', which is a built-in dimension that only verified facts give a value; give it another name");
		}
	}

	private Dimension named(String name) {
		Dimension known = this.named.get(name);
		if (known == null) {
			requireNotBuiltIn(name);
			known = new Dimension(name);
			this.named.put(name, known);
		}
		return known;
	}

}
