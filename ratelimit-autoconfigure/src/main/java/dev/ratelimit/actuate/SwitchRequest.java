package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

import dev.ratelimit.FailureMode;
import dev.ratelimit.ForcedMode;
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminProblem;

/**
 * Reads {@code {"mode": "allow", "for": "1h", "reason": "…"}}. What is not understood is
 * an error: a misspelt {@code for} must not mean an hour.
 */
final class SwitchRequest {

	static final String EXAMPLE = "Send something like {\"mode\": \"allow\", \"for\": \"1h\", \"reason\": \"…\"}.";

	private static final List<String> FIELDS = List.of("mode", "for", "reason");

	private static final String MODES = Arrays.stream(FailureMode.values())
		.map(SwitchRequest::text)
		.collect(Collectors.joining(", "));

	/** A number alone would be milliseconds, which nobody means here. */
	private static final Pattern WITHOUT_UNIT = Pattern.compile("[+-]?\\d+");

	private SwitchRequest() {
	}

	static ForcedMode parse(AdminBody body, String actor) {
		body.requireOnly(EXAMPLE, FIELDS);
		return new ForcedMode(mode(body.get("mode")), duration(body.get("for")), actor, body.reason());
	}

	static String text(FailureMode mode) {
		return mode.name().toLowerCase(Locale.ROOT);
	}

	private static FailureMode mode(@Nullable Object value) {
		return Arrays.stream(FailureMode.values())
			.filter((mode) -> value instanceof String text && mode.name().equalsIgnoreCase(text.strip()))
			.findFirst()
			.orElseThrow(() -> AdminProblem.invalid("mode",
					(value != null) ? "There is no such mode" : "The mode to force is missing",
					"Use one of: " + MODES + "."));
	}

	/**
	 * How long something is to hold, an hour if nobody says.
	 */
	static Duration duration(@Nullable Object value) {
		if (value == null) {
			return ForcedMode.USUAL;
		}
		String fix = "Use a duration such as 90s, 30m, 1h, 2d or PT1H, at least 1s and at most "
				+ ForcedMode.LONGEST.toDays() + "d.";
		if (!(value instanceof String text) || WITHOUT_UNIT.matcher(text.strip()).matches()) {
			throw AdminProblem.invalid("for", "This is not a duration with a unit", fix);
		}
		Duration duration = parse(text.strip(), fix);
		if (duration.compareTo(Duration.ofSeconds(1)) < 0 || duration.compareTo(ForcedMode.LONGEST) > 0) {
			throw AdminProblem.invalid("for", "The duration is out of range", fix);
		}
		return duration;
	}

	private static Duration parse(String text, String fix) {
		try {
			return DurationStyle.detectAndParse(text);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw AdminProblem.invalid("for", "This is not a duration", fix);
		}
	}

}
