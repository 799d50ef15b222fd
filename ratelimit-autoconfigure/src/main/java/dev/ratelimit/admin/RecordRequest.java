package dev.ratelimit.actuate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import dev.ratelimit.Dimension;
import dev.ratelimit.admin.AdminBody;
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
		return key(() -> {
			Dimension named = new Dimension(dimension);
			return RecordIds.override(policy, named, CallerValue.named(named, value));
		});
	}

	static RecordKey tier(String dimension, String value) {
		return key(() -> {
			Dimension named = new Dimension(dimension);
			return RecordIds.tier(named, CallerValue.named(named, value));
		});
	}

	static RecordKey entry(Kind list, Map<String, ?> entry) {
		return key(() -> {
			Map<Dimension, String> values = new HashMap<>();
			AdminBody texts = AdminBody.of(new HashMap<String, Object>(entry));
			entry.keySet().forEach((name) -> values.put(new Dimension(name), text(texts, name)));
			return RecordIds.entry(list, values);
		});
	}

	private static String text(AdminBody entry, String name) {
		try {
			String text = entry.text(name);
			CallerValue.requireNoBrokenDigest(new Dimension(name), text);
			return text;
		}
		catch (AdminProblem ex) {
			throw ex.at("entry");
		}
	}

	static Kind list(String name) {
		return switch (name) {
			case "allow" -> Kind.ALLOW;
			case "deny" -> Kind.DENY;
			default -> throw AdminProblem.missing("list", "There is no such list", "Use allow or deny.");
		};
	}

	/**
	 * The records of a page.
	 */
	static List<Change> page(AdminBody body) {
		List<?> records = body.requireOnly(EXAMPLE, List.of("records", "reason")).list("records");
		if (records.isEmpty() || records.size() > MAX_PAGE) {
			throw AdminProblem.invalid("records", "There are " + records.size() + " records",
					"Send 1 to " + MAX_PAGE + " at once.");
		}
		List<Change> changes = new ArrayList<>();
		Map<RecordKey, Integer> places = new HashMap<>();
		for (int i = 0; i < records.size(); i++) {
			String at = "records[" + i + "]";
			if (!(records.get(i) instanceof Map<?, ?> record)) {
				throw AdminProblem.invalid(at, "This is not an object", EXAMPLE);
			}
			try {
				Change change = change(AdminBody.of(Map.<String, Object>of(at, record)).object(at));
				Integer before = places.put(change.key(), i);
				if (before != null) {
					throw AdminProblem.invalid("", "This is the same record as records[" + before + "]",
							"Send each once.");
				}
				changes.add(change);
			}
			catch (AdminProblem ex) {
				throw ex.at(at);
			}
		}
		return changes;
	}

	private static Change change(Map<String, Object> fields) {
		AdminBody body = AdminBody.of(fields);
		String kind = body.text("kind");
		return switch (kind) {
			case "override" -> {
				body.requireOnly(EXAMPLE, List.of("kind", "policy", "dimension", "value", "limits", "delete"));
				RecordKey key = override(body.text("policy"), body.text("dimension"), body.text("value"));
				yield new Change(key, body.flag("delete") ? null : Map.of("limits", body.object("limits")), null);
			}
			case "tier" -> {
				body.requireOnly(EXAMPLE, List.of("kind", "dimension", "value", "tier", "delete"));
				RecordKey key = tier(body.text("dimension"), body.text("value"));
				yield new Change(key, body.flag("delete") ? null : Map.of("tier", body.text("tier")), null);
			}
			case "allow", "deny" -> {
				body.requireOnly(EXAMPLE, List.of("kind", "entry", "delete"));
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
