package dev.ratelimit.admin;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ForcedMode;

/**
 * The parameters behind the question mark of a call, all of which are known: a slip must
 * not be a default.
 */
public final class AdminQuery {

	/** As much as the trail keeps of it. */
	private static final int LONGEST_REASON = 500;

	private final Map<String, String> parameters;

	private AdminQuery(Map<String, String> parameters) {
		this.parameters = parameters;
	}

	/**
	 * Parameters.
	 * @throws AdminProblem if there are others than these
	 */
	public static AdminQuery of(Map<String, String> parameters, String... names) {
		List<String> known = List.of(names);
		for (String name : parameters.keySet()) {
			if (!known.contains(name)) {
				throw AdminProblem.invalid(ForcedMode.printable(name), "There is no such parameter",
						known.isEmpty() ? "Leave it out." : "Use " + String.join(", ", known) + ".");
			}
		}
		requireReason(parameters.get("reason"));
		return new AdminQuery(parameters);
	}

	/**
	 * Checks that a reason is one that is kept as a whole.
	 */
	public static void requireReason(@Nullable String reason) {
		if (reason != null && reason.length() > LONGEST_REASON) {
			throw AdminProblem.invalid("reason", "The reason has " + reason.length() + " characters",
					"Use at most " + LONGEST_REASON + ".");
		}
	}

	/**
	 * The reason that a call gives, even if the rest of it makes no sense.
	 */
	public static String reason(Map<String, String> parameters) {
		return ForcedMode.printable(parameters.getOrDefault("reason", ""));
	}

	/**
	 * A text, empty if there is none.
	 */
	public String text(String name) {
		return this.parameters.getOrDefault(name, "");
	}

	public boolean flag(String name) {
		return switch (this.parameters.getOrDefault(name, "false")) {
			case "true" -> true;
			case "false" -> false;
			default -> throw AdminProblem.invalid(name, "This is neither true nor false", "Use true or false.");
		};
	}

	/**
	 * A number of a version, {@code null} if there is none.
	 */
	public @Nullable Long version(String name) {
		String text = this.parameters.get(name);
		if (text == null) {
			return null;
		}
		if (text.isEmpty() || text.length() > 18 || !text.chars().allMatch((c) -> c >= '0' && c <= '9')) {
			throw AdminProblem.invalid(name, "This is not a version",
					"Use a whole number, 0 or more, such as ?" + name + "=2.");
		}
		return Long.parseLong(text);
	}

}
