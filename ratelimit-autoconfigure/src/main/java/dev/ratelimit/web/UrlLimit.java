package dev.ratelimit.web;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;

/**
 * An entry of {@code ratelimit.urls}: requests to these paths are checked against a
 * policy. Loaded only where there is spring-web.
 *
 * @param name key of the entry, also the value of dimension {@code route}
 * @param path pattern as it is configured
 * @param pattern the same, compiled to match in any case
 * @param methods methods that match, empty for all
 * @param policy id of the policy
 * @param cost permits of a request, {@code null} if the costs of the policy decide
 * @param beforeAuthentication whether requests are checked before they are authenticated
 */
public record UrlLimit(String name, String path, PathPattern pattern, Set<String> methods, String policy,
		@Nullable Long cost, boolean beforeAuthentication) {

	/** The names of all methods. */
	public static final List<String> METHODS = Arrays.stream(HttpMethod.values()).map(HttpMethod::name).toList();

	public UrlLimit {
		methods = Set.copyOf(methods);
	}

	/**
	 * Creates an entry.
	 * @param methods in upper case; GET includes HEAD, which is served by the same
	 * handlers
	 * @throws IllegalArgumentException if no path can match the pattern
	 */
	public static UrlLimit of(String name, String path, List<String> methods, String policy, @Nullable Long cost,
			boolean beforeAuthentication) {
		if (!path.startsWith("/")) {
			throw new IllegalArgumentException("a path pattern starts with a slash, for example /api/**");
		}
		Set<String> all = new LinkedHashSet<>(methods);
		if (all.contains("GET")) {
			all.add("HEAD");
		}
		return new UrlLimit(name, path, PathPatterns.parseAnyCase(path), all, policy, cost, beforeAuthentication);
	}

	boolean matches(String method, List<PathContainer> paths) {
		if (!this.methods.isEmpty() && !this.methods.contains(method.toUpperCase(Locale.ROOT))) {
			return false;
		}
		for (PathContainer path : paths) {
			if (this.pattern.matches(path)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The entry as the endpoint shows it.
	 */
	public Map<String, Object> document() {
		Map<String, Object> document = new LinkedHashMap<>();
		document.put("path", this.path);
		if (!this.methods.isEmpty()) {
			document.put("methods", this.methods.stream().sorted().toList());
		}
		document.put("policy", this.policy);
		if (this.cost != null) {
			document.put("cost", this.cost);
		}
		document.put("beforeAuthentication", this.beforeAuthentication);
		return document;
	}

}
