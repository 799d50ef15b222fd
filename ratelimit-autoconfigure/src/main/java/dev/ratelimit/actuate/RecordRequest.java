package dev.ratelimit.actuate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Reads what a call says about records: one, named by its path, or a page of them. No
 * value of a caller is repeated in an error.
 */
final class RecordRequest {

	/** How many records one call may import. */
	static final int MAX_PAGE = 1_000;

	static final String EXAMPLE = "Send something like {\"records\": [{\"kind\": \"override\", \"policy\": \"orders\", "
			+ "\"dimension\": \"tenant\", \"value\": \"acme\", \"limits\": {\"per-tenant\": \"20000/s\"}}, {\"kind\": "
			+ "\"tier\", \"dimension\": \"tenant\", \"value\": \"acme\", \"tier\": \"pro\"}, {\"kind\": \"deny\", "
			+ "\"entry\": {\"ip\": \"203.0.113.0/24\"}, \"delete\": true}], \"reason\": \"…\"}.";

	private RecordRequest() {
	}

	static RecordKey override(String policy, String dimension, String value) {
		return key(() -> RecordIds.override(policy, new Dimension(dimension), value));
	}

	static RecordKey tier(String dimension, String value) {
		return key(() -> RecordIds.tier(new Dimension(dimension), value));
	}

	static RecordKey entry(Kind list, Map<String, ?> entry) {
		return key(() -> {
			Map<Dimension, String> values = new HashMap<>();
			entry.forEach((name, value) -> values.put(new Dimension(name), String.valueOf(value)));
			return RecordIds.entry(list, values);
		});
	}

	static Kind list(String name) {
		return switch (name) {
			case "allow" -> Kind.ALLOW;
			case "deny" -> Kind.DENY;
			default -> throw AdminProblem.missing("list", "There is no such list", "Use allow or deny.");
		};
	}

	static long version(String expect) {
		try {
			return Long.parseUnsignedLong(expect);
		}
		catch (NumberFormatException ex) {
			throw AdminProblem.invalid("expect", "This is not a version", "Send a whole number, 0 or more.");
		}
	}

	/**
	 * The records of a page.
	 */
	static List<Change> page(@Nullable Map<String, Object> fields) {
		List<?> records = AdminBody.of(fields, EXAMPLE).requireOnly("records", "reason").list("records");
		if (records.isEmpty() || records.size() > MAX_PAGE) {
			throw AdminProblem.invalid("records", "There are " + records.size() + " records",
					"Send 1 to " + MAX_PAGE + " at once.");
		}
		List<Change> changes = new ArrayList<>();
		for (int i = 0; i < records.size(); i++) {
			String at = "records[" + i + "]";
			if (!(records.get(i) instanceof Map<?, ?> record)) {
				throw AdminProblem.invalid(at, "This is not an object", EXAMPLE);
			}
			changes.add(change(AdminBody.of(Map.of(at, record), EXAMPLE).object(at)));
		}
		if (changes.stream().map(Change::key).distinct().count() < changes.size()) {
			throw AdminProblem.invalid("records", "A record is there twice", "Send each once.");
		}
		return changes;
	}

	private static Change change(Map<String, Object> fields) {
		AdminBody body = AdminBody.of(fields, EXAMPLE);
		String kind = body.text("kind");
		return switch (kind) {
			case "override" -> {
				body.requireOnly("kind", "policy", "dimension", "value", "limits", "delete");
				RecordKey key = override(body.text("policy"), body.text("dimension"), body.text("value"));
				yield new Change(key, body.flag("delete") ? null : Map.of("limits", body.object("limits")), null);
			}
			case "tier" -> {
				body.requireOnly("kind", "dimension", "value", "tier", "delete");
				RecordKey key = tier(body.text("dimension"), body.text("value"));
				yield new Change(key, body.flag("delete") ? null : Map.of("tier", body.text("tier")), null);
			}
			case "allow", "deny" -> {
				body.requireOnly("kind", "entry", "delete");
				yield new Change(entry(list(kind), body.object("entry")), body.flag("delete") ? null : Map.of(), null);
			}
			default -> throw AdminProblem.invalid("kind", "There is no such kind of record",
					"Use override, tier, allow or deny.");
		};
	}

	private static RecordKey key(Supplier<RecordKey> key) {
		try {
			return key.get();
		}
		catch (IllegalArgumentException ex) {
			throw AdminProblem.invalid("dimension", "The name of the record cannot be meant",
					"Use a dimension such as tenant, and a value of 1 to 400 characters.");
		}
	}

}
