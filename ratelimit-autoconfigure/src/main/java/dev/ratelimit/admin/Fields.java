package dev.ratelimit.admin;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

import dev.ratelimit.EnumText;
import dev.ratelimit.PrintableText;

/**
 * The fields of a call: the members of a JSON object, or the parameters of a query. An
 * unknown name and a value of the wrong type are errors, because a slip must not turn
 * into a default. An error shows the name of a field, never its value.
 *
 * <p>
 * Errors in the call as a whole wait until {@link #only} is called: by then the attempt
 * is in the audit trail.
 */
public final class Fields {

	/** The trail keeps this many characters. */
	private static final int LONGEST_REASON = 500;

	private static final int USUAL_ENTRIES = 50;

	private static final int MOST_ENTRIES = 1_000;

	/** A number alone would be milliseconds, which no caller expects here. */
	private static final Pattern WITHOUT_UNIT = Pattern.compile("[+-]?\\d+");

	private static final Pattern DIGITS = Pattern.compile("[0-9]{1,18}");

	private final @Nullable Map<String, Object> values;

	private final boolean query;

	private final @Nullable AdminProblem problem;

	private Fields(@Nullable Map<String, Object> values, boolean query, @Nullable AdminProblem problem) {
		this.values = values;
		this.query = query;
		this.problem = problem;
	}

	/**
	 * The fields of a body.
	 * @param values {@code null} if there is no body
	 * @param problem with the body as a whole
	 */
	public static Fields ofBody(@Nullable Map<String, Object> values, @Nullable AdminProblem problem) {
		return new Fields(values, false, problem);
	}

	/**
	 * The parameters of a query, whose values are all texts.
	 * @param problem with the query as a whole
	 */
	public static Fields ofQuery(Map<String, Object> values, @Nullable AdminProblem problem) {
		return new Fields(values, true, problem);
	}

	/**
	 * The reason that the caller gives, even if other fields are wrong.
	 */
	public String reason() {
		Object reason = value("reason");
		return (reason != null) ? PrintableText.of(reason.toString()) : "";
	}

	/**
	 * Checks that there are no other fields than these.
	 */
	public Fields only(String... names) {
		return only("Send a JSON object.", List.of(names));
	}

	/**
	 * Checks that there are no other fields than these.
	 * @param example shown if there is no body
	 */
	public Fields only(String example, Collection<String> names) {
		requireReadable(example);
		for (String name : names()) {
			if (!names.contains(name)) {
				throw AdminProblem.invalid(PrintableText.of(name), "There is no such " + noun(),
						names.isEmpty() ? "Leave it out." : "Use " + String.join(", ", names) + ".");
			}
		}
		return this;
	}

	/**
	 * Checks all that does not depend on which fields are allowed.
	 */
	void requireReadable(String example) {
		if (this.problem != null) {
			throw this.problem;
		}
		if (this.values == null) {
			throw AdminProblem.unreadable(example);
		}
		if (text("reason", "").length() > LONGEST_REASON) {
			throw AdminProblem.invalid("reason", "The reason has more than " + LONGEST_REASON + " characters",
					"Send at most " + LONGEST_REASON + ".");
		}
	}

	Set<String> names() {
		return (this.values != null) ? this.values.keySet() : Set.of();
	}

	/**
	 * A value of any type, {@code null} if the field is absent or null.
	 */
	public @Nullable Object value(String name) {
		return (this.values != null) ? this.values.get(name) : null;
	}

	boolean has(String name) {
		return value(name) != null;
	}

	/**
	 * A value of any type that has to be there.
	 */
	Object required(String name, String fix) {
		Object value = value(name);
		if (value == null) {
			throw AdminProblem.invalid(name, "This " + noun() + " is missing", fix);
		}
		return value;
	}

	/**
	 * A text that has to be there and not blank.
	 */
	public String text(String name) {
		String text = required(name, String.class, "a text", "Send a text that is not empty.");
		if (text.isBlank()) {
			throw AdminProblem.invalid(name, "This is empty", "Send a text that is not empty.");
		}
		return text;
	}

	/**
	 * A text, or the fallback if the field is absent.
	 */
	public String text(String name, String fallback) {
		return has(name) ? required(name, String.class, "a text", "Send a text.") : fallback;
	}

	@SuppressWarnings("unchecked")
	public Map<String, Object> object(String name) {
		return required(name, Map.class, "an object", "Send a JSON object.");
	}

	List<?> list(String name) {
		return required(name, List.class, "a list", "Send a JSON list.");
	}

	private <T> T required(String name, Class<T> type, String what, String fix) {
		Object value = required(name, fix);
		if (!type.isInstance(value)) {
			throw AdminProblem.invalid(name, "This is not " + what, fix);
		}
		return type.cast(value);
	}

	/**
	 * A whole number, {@code null} if the field is absent.
	 */
	@Nullable Long number(String name, long least, long most) {
		Object value = value(name);
		if (value == null) {
			return null;
		}
		Long number = (value instanceof Integer || value instanceof Long) ? Long.valueOf(((Number) value).longValue())
				: (this.query && DIGITS.matcher(value.toString()).matches()) ? Long.valueOf(value.toString()) : null;
		if (number == null || number < least || number > most) {
			String range = least + ((most == Long.MAX_VALUE) ? " or more" : " to " + most);
			throw AdminProblem.invalid(name, "This is not a whole number in the allowed range",
					"Use a whole number, " + range + ", or leave it out.");
		}
		return number;
	}

	/**
	 * A number of a version, {@code null} if the field is absent.
	 */
	@Nullable Long version(String name) {
		return number(name, 0, Long.MAX_VALUE);
	}

	/**
	 * How many entries a page has at most: the parameter {@code limit}.
	 */
	int pageSize() {
		Long limit = number("limit", 1, MOST_ENTRIES);
		return (limit != null) ? limit.intValue() : USUAL_ENTRIES;
	}

	/**
	 * Whether a field is true; an absent one is not.
	 */
	boolean flag(String name) {
		Object value = value(name);
		boolean yes = Boolean.TRUE.equals(value) || (this.query && "true".equals(value));
		boolean no = value == null || Boolean.FALSE.equals(value) || (this.query && "false".equals(value));
		if (!yes && !no) {
			throw AdminProblem.invalid(name, "This is neither true nor false", "Use true or false.");
		}
		return yes;
	}

	/**
	 * A duration with a unit, or the fallback if the field is absent.
	 */
	Duration duration(String name, Duration fallback, Duration least, Duration most) {
		String problem = "This is not a duration with a unit, or it is out of range";
		String fix = "Use a duration such as 90s, 30m, 1h, 2d or PT1H, at least " + least.toSeconds() + "s and at most "
				+ most.toDays() + "d.";
		Duration duration = parsed(name, (text) -> {
			if (WITHOUT_UNIT.matcher(text.strip()).matches()) {
				throw new IllegalArgumentException();
			}
			return DurationStyle.detectAndParse(text.strip());
		}, problem, fix);
		if (duration == null) {
			return fallback;
		}
		if (duration.compareTo(least) < 0 || duration.compareTo(most) > 0) {
			throw AdminProblem.invalid(name, problem, fix);
		}
		return duration;
	}

	/**
	 * One of the constants of an enum, in lower or upper case.
	 * @param fallback {@code null} if the field has to be there
	 */
	<E extends Enum<E>> E choice(String name, Class<E> type, @Nullable E fallback) {
		if (fallback != null && !has(name)) {
			return fallback;
		}
		String fix = Stream.of(type.getEnumConstants())
			.map(EnumText::of)
			.collect(Collectors.joining(", ", "Use one of: ", "."));
		Object value = required(name, fix);
		return Stream.of(type.getEnumConstants())
			.filter((choice) -> value instanceof String text && EnumText.of(choice).equalsIgnoreCase(text.strip()))
			.findFirst()
			.orElseThrow(() -> AdminProblem.invalid(name, "This is not one of the allowed values", fix));
	}

	/**
	 * A text with a format of its own, {@code null} if the field is absent.
	 * @param parser throws if the text has another format
	 * @param problem shown if it does
	 */
	<T> @Nullable T parsed(String name, Function<String, T> parser, String problem, String fix) {
		Object value = value(name);
		if (value == null) {
			return null;
		}
		try {
			return parser.apply((value instanceof String text) ? text : "");
		}
		catch (DateTimeException | ArithmeticException | IllegalArgumentException ex) {
			throw AdminProblem.invalid(name, problem, fix);
		}
	}

	private String noun() {
		return this.query ? "parameter" : "field";
	}

}
