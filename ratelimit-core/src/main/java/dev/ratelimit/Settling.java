package dev.ratelimit;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * How the true cost of a request is learned after its response. A request takes the
 * estimate; the first source that names a cost corrects it: the status, then the header
 * or trailer, then the body. Code can settle a {@link Decision} itself.
 *
 * @param estimate cost of a request that names none
 * @param header response header or trailer with the true cost, {@code null} for none
 * @param json paths of fields in a JSON body or in server-sent events; their numbers are
 * summed
 * @param statuses true cost by status: {@code "404"}, or {@code "4xx"} for a class
 */
public record Settling(long estimate, @Nullable String header, List<String> json, Map<String, Long> statuses) {

	private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}([.][0-9]{1,18})?([eE][+-]?[0-9]{1,2})?");

	/** Most fields whose numbers are summed. */
	public static final int MAX_PATHS = 8;

	private static final Pattern HEADER = Pattern.compile("[0-9A-Za-z!#$%&'*+.^_`|~-]{1,100}");

	private static final Pattern PATH = Pattern.compile("[^\\s.\"\\\\]{1,60}(\\.[^\\s.\"\\\\]{1,60}){0,15}");

	private static final Pattern STATUS = Pattern.compile("[1-5]([0-9][0-9]|xx)");

	public Settling {
		json = List.copyOf(json);
		statuses = Map.copyOf(statuses);
		require(estimate >= 1 && estimate <= Quota.MAX_PERMITS,
				"estimate must be 1 to " + Quota.MAX_PERMITS + " permits but was " + estimate);
		require(header == null || HEADER.matcher(header).matches(),
				"settle-header must be the name of a header but was '" + header + "'");
		require(json.size() <= MAX_PATHS, "settle-json has at most " + MAX_PATHS + " paths but has " + json.size());
		json.forEach((path) -> require(PATH.matcher(path).matches(),
				"settle-json must be names of fields joined by dots, such as usage.total_tokens, but was '" + path
						+ "'"));
		statuses.forEach((status, cost) -> {
			require(STATUS.matcher(status).matches(),
					"settle-status needs statuses such as 404, or classes such as 4xx, but has '" + status + "'");
			require(cost >= 0 && cost <= Quota.MAX_PERMITS,
					"settle-status must be 0 to " + Quota.MAX_PERMITS + " permits but was " + cost + " for " + status);
		});
	}

	private static void require(boolean valid, String message) {
		if (!valid) {
			throw new IllegalArgumentException(message);
		}
	}

	/**
	 * Requests that only code settles.
	 */
	public static Settling byCode(long estimate) {
		return new Settling(estimate, null, List.of(), Map.of());
	}

	/**
	 * The true cost of a response with this status, {@code null} if another source names
	 * it. An exact status is preferred to its class.
	 */
	public @Nullable Long byStatus(int status) {
		Long exact = this.statuses.get(Integer.toString(status));
		return (exact != null) ? exact : this.statuses.get(status / 100 + "xx");
	}

	/**
	 * The cost that a text names, {@code null} if it is not a number from 0 up. Fractions
	 * are rounded up, and numbers above the largest cost are the largest cost.
	 */
	public static @Nullable Long cost(@Nullable String text) {
		String number = (text != null) ? text.strip() : "";
		return NUMBER.matcher(number).matches()
				? (Long) (long) Math.min(Math.ceil(Double.parseDouble(number)), Quota.MAX_PERMITS) : null;
	}

	/**
	 * The true cost that the head of a response names, {@code null} if it names none.
	 * @param value of the header, {@code null} if there is none
	 */
	public @Nullable Long byHead(int status, @Nullable String value) {
		Long cost = byStatus(status);
		return (cost != null) ? cost : cost(value);
	}

}
