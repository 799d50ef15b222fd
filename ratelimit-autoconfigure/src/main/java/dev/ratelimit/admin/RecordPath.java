package dev.ratelimit.admin;

import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import dev.ratelimit.Dimension;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.RecordKey;

/**
 * The override or the tier of a caller, as the path of a call names it.
 *
 * @param what first part of the path, which names no caller
 * @param field the field of a body that has the content of the record
 * @param example a body
 * @param key checks the path when it is used: by then the attempt is in the audit trail
 */
public record RecordPath(String what, String field, String example, Supplier<RecordKey> key) {

	/**
	 * Reads the variables of a path: dimension and value, and for an override its policy.
	 */
	public static RecordPath of(Map<String, String> path) {
		String policy = path.get("policy");
		String dimension = path.getOrDefault("dimension", "");
		String value = path.getOrDefault("value", "");
		return (policy != null) ? override(policy, dimension, value) : tier(dimension, value);
	}

	static RecordPath override(String policy, String dimension, String value) {
		return new RecordPath("overrides", "limits",
				"Send something like {\"limits\": {\"per-tenant\": \"20000/s\"}, \"reason\": \"…\"}.",
				() -> checked(dimension, value, (named, checked) -> RecordIds.override(policy, named, checked)));
	}

	static RecordPath tier(String dimension, String value) {
		return new RecordPath("tiers", "tier", "Send something like {\"tier\": \"pro\", \"reason\": \"…\"}.",
				() -> checked(dimension, value, RecordIds::tier));
	}

	private static RecordKey checked(String name, String value, BiFunction<Dimension, String, RecordKey> key) {
		return checked(() -> {
			Dimension dimension = new Dimension(name);
			return key.apply(dimension, CallerFields.named(dimension, value));
		});
	}

	static RecordKey checked(Supplier<RecordKey> key) {
		try {
			return key.get();
		}
		catch (IllegalArgumentException ex) {
			throw AdminProblem.invalid("dimension", "The dimension or the value of the record is not valid",
					"Use a dimension such as tenant, and a value of 1 to 400 characters.");
		}
	}

}
