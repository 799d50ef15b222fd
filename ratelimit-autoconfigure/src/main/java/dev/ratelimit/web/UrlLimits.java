package dev.ratelimit.web;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import org.springframework.http.server.PathContainer;

/**
 * The entries of {@code ratelimit.urls} in force, and which of them match a request.
 *
 * <p>
 * <b>Invariant.</b> A request matches an entry if any reading of its path does, in any
 * case, with or without the paths of context and servlet: whichever path the server or an
 * upstream understands, the entry for it was checked. A request to the management
 * endpoints or to the error page matches nothing, but only if all readings of its path
 * are theirs. It fails if a server reads a path in a way that {@link PathReadings} does
 * not know; then the request is not limited.
 */
public final class UrlLimits {

	private final Predicate<String> excluded;

	private final String servletPath;

	private volatile Entries entries = Entries.of(List.of());

	/**
	 * Begins without entries.
	 * @param excluded paths within the application that never match
	 * @param servletPath the part of all paths within the application that selects
	 * Spring's servlet, empty for one at the root
	 */
	public UrlLimits(Predicate<String> excluded, String servletPath) {
		this.excluded = excluded;
		this.servletPath = servletPath;
	}

	public List<UrlLimit> all() {
		return this.entries.all();
	}

	/**
	 * Puts other entries in force, for all requests that come from now on.
	 */
	public void replace(Collection<UrlLimit> entries) {
		this.entries = Entries.of(List.copyOf(entries));
	}

	/**
	 * The entries that match a request, in the order of the configuration.
	 * @param beforeAuthentication whether the request is not authenticated yet
	 */
	public List<UrlLimit> matching(WebCall call, boolean beforeAuthentication) {
		Entries entries = this.entries;
		List<UrlLimit> candidates = beforeAuthentication ? entries.before : entries.after;
		if (candidates.isEmpty()) {
			return candidates;
		}
		try {
			return matching(call, candidates);
		}
		catch (RuntimeException | StackOverflowError ex) {
			// A caller may have chosen a path that an expression in a pattern fails on.
			return candidates;
		}
	}

	private List<UrlLimit> matching(WebCall call, List<UrlLimit> candidates) {
		List<String> readings = PathReadings.of(call.rawPath());
		List<String> within = within(readings, call.contextPath());
		if (isExcluded(within)) {
			return List.of();
		}
		List<String> all = readings;
		List<String> inServlet = within(within, this.servletPath);
		if (within != readings || inServlet != within) {
			Set<String> each = new LinkedHashSet<>(readings);
			each.addAll(within);
			each.addAll(inServlet);
			all = List.copyOf(each);
		}
		List<PathContainer> paths = PathPatterns.containers(all);
		String method = call.method();
		List<UrlLimit> matching = new ArrayList<>(candidates.size());
		for (UrlLimit entry : candidates) {
			if (entry.matches(method, paths)) {
				matching.add(entry);
			}
		}
		return matching;
	}

	/** The readings that begin with the context path, without it. */
	private static List<String> within(List<String> readings, String contextPath) {
		if (contextPath.isEmpty()) {
			return readings;
		}
		String prefix = PathReadings.of(contextPath).get(0);
		return readings.stream()
			.filter((reading) -> isBelow(reading, prefix))
			.map((reading) -> (reading.length() > prefix.length()) ? reading.substring(prefix.length()) : "/")
			.toList();
	}

	/** A path that only one server reads as excluded is limited. */
	private boolean isExcluded(List<String> readings) {
		return !readings.isEmpty() && readings.stream().allMatch(this.excluded);
	}

	/**
	 * Whether a path is another one or below it.
	 */
	public static boolean isBelow(String path, String prefix) {
		return path.startsWith(prefix) && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
	}

	/**
	 * All entries as the endpoint shows them, by name.
	 */
	public Map<String, Object> documents() {
		Map<String, Object> documents = new LinkedHashMap<>();
		all().forEach((entry) -> documents.put(entry.name(), entry.document()));
		return documents;
	}

	/**
	 * Entries by the time at which they are checked.
	 */
	private record Entries(List<UrlLimit> all, List<UrlLimit> before, List<UrlLimit> after) {

		static Entries of(List<UrlLimit> all) {
			return new Entries(all, all.stream().filter(UrlLimit::beforeAuthentication).toList(),
					all.stream().filter((entry) -> !entry.beforeAuthentication()).toList());
		}

	}

}
