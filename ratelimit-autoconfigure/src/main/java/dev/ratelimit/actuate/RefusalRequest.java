package dev.ratelimit.actuate;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

import dev.ratelimit.Dimension;
import dev.ratelimit.ForcedMode;
import dev.ratelimit.Policy;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.refusal.CallerNames;
import dev.ratelimit.refusal.RefusalQuery;

/**
 * Reads {@code ?tenant=acme&user=ann&at=2026-11-16T03:47:00Z}: a caller by what is known
 * about it, and when. No value is repeated in an error.
 *
 * @param policy id of a policy, {@code null} for any
 * @param caller what is known about the caller
 * @param at the time, {@code null} for any
 * @param within how far from it
 * @param before where the page before has ended, {@code null} for the first
 * @param limit how many entries at most
 */
record RefusalRequest(@Nullable String policy, Map<Dimension, String> caller, @Nullable Instant at, Duration within,
		@Nullable String before, int limit) {

	private static final Set<String> FIELDS = Set.of("policy", "at", "within", "before", "limit");

	private static final Set<Dimension> WELL_KNOWN = Set.of(Dimension.USER, Dimension.TENANT, Dimension.IP,
			Dimension.ROUTE, Dimension.API_KEY, Dimension.REGION);

	private static final Pattern PLACE = Pattern.compile("\\d{1,15}-\\d{1,9}");

	static RefusalRequest parse(Map<String, String> parameters, PolicySet policies) {
		Set<String> known = dimensions(policies);
		Map<Dimension, String> caller = new HashMap<>();
		parameters.forEach((name, value) -> {
			if (!FIELDS.contains(name)) {
				if (!known.contains(name)) {
					throw AdminProblem.invalid(ForcedMode.printable(name), "There is no such parameter",
							"Use policy, at, within, before, limit, and of these what is known about the caller: "
									+ String.join(", ", known) + ".");
				}
				Dimension dimension = new Dimension(name);
				caller.put(dimension, CallerValue.counted(dimension, value));
			}
		});
		return new RefusalRequest(policy(parameters.get("policy")), caller, at(parameters.get("at")),
				within(parameters.getOrDefault("within", "1m")), before(parameters.get("before")),
				PageSize.of(parameters.get("limit")));
	}

	RefusalQuery query(CallerNames names) {
		return new RefusalQuery(this.policy, names.known(this.caller),
				(this.at != null) ? this.at.minus(this.within) : null,
				(this.at != null) ? this.at.plus(this.within) : null, this.before, this.limit);
	}

	/** A policy that was deleted may have refusals still. */
	private static @Nullable String policy(@Nullable String id) {
		if (id != null && !Policy.isId(id)) {
			throw AdminProblem.invalid("policy", "This is not the id of a policy",
					"Use 1 to 63 lower-case letters, digits, dots, dashes and underscores, or leave it out.");
		}
		return id;
	}

	/** A policy may be gone whose refusals are still asked for. */
	private static Set<String> dimensions(PolicySet policies) {
		Set<String> names = new TreeSet<>();
		WELL_KNOWN.forEach((dimension) -> names.add(dimension.name()));
		policies.policies()
			.forEach((policy) -> policy.limits()
				.forEach((limit) -> limit.by().forEach((dimension) -> names.add(dimension.name()))));
		return names;
	}

	private static @Nullable Instant at(@Nullable String text) {
		try {
			return (text != null) ? Instant.parse(text) : null;
		}
		catch (DateTimeException ex) {
			throw AdminProblem.invalid("at", "This is not a time", "Use a time such as 2026-11-16T03:47:00Z.");
		}
	}

	private static Duration within(String text) {
		try {
			Duration within = DurationStyle.detectAndParse(text);
			boolean unit = !text.chars().allMatch(Character::isDigit);
			if (unit && !within.isNegative() && within.compareTo(Duration.ofDays(365)) <= 0) {
				return within;
			}
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			// Told below.
		}
		throw AdminProblem.invalid("within", "This is not a length of time", "Use something like 30s, 5m or 1h.");
	}

	private static @Nullable String before(@Nullable String text) {
		if (text != null && !PLACE.matcher(text).matches()) {
			throw AdminProblem.invalid("before", "This is no place in the history",
					"Use what the last answer calls before.");
		}
		return text;
	}

}
