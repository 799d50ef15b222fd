package dev.ratelimit.admin;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.ratelimit.Dimension;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Reads which records the body of a call is about: entries of lists, or a page to import.
 */
final class RecordRequest {

	/** How many records one call may import. */
	private static final int MAX_PAGE = 1_000;

	private static final String EXAMPLE = "Send something like {\"records\": [{\"kind\": \"override\", \"policy\": "
			+ "\"orders\", \"dimension\": \"tenant\", \"value\": \"acme\", \"limits\": {\"per-tenant\": \"20000/s\"}}, "
			+ "{\"kind\": \"tier\", \"dimension\": \"tenant\", \"value\": \"acme\", \"tier\": \"pro\"}, {\"kind\": "
			+ "\"deny\", \"entry\": {\"ip\": \"203.0.113.0/24\"}, \"delete\": true}], \"reason\": \"…\"}.";

	private RecordRequest() {
	}

	static RecordKey entry(Kind list, Map<String, Object> entry) {
		return RecordPath.checked(() -> {
			Map<Dimension, String> values = new HashMap<>();
			entry.keySet().forEach((name) -> values.put(new Dimension(name), text(Fields.ofBody(entry, null), name)));
			return RecordIds.entry(list, values);
		});
	}

	private static String text(Fields entry, String name) {
		try {
			String text = entry.text(name);
			CallerFields.requireNoBrokenDigest(new Dimension(name), text);
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
	static List<Change> page(Fields body) {
		List<?> records = body.only(EXAMPLE, List.of("records", "reason")).list("records");
		if (records.isEmpty() || records.size() > MAX_PAGE) {
			throw AdminProblem.invalid("records", "There are " + records.size() + " records",
					"Send 1 to " + MAX_PAGE + " at once.");
		}
		List<Change> changes = new ArrayList<>();
		Map<RecordKey, Integer> places = new HashMap<>();
		for (int i = 0; i < records.size(); i++) {
			String at = "records[" + i + "]";
			Map<String, Object> record = Fields.ofBody(Collections.singletonMap(at, records.get(i)), null).object(at);
			try {
				Change change = change(Fields.ofBody(record, null));
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

	private static Change change(Fields record) {
		boolean delete = record.flag("delete");
		ImportKind kind = record.choice("kind", ImportKind.class, null);
		return switch (kind) {
			case OVERRIDE -> {
				record.only(EXAMPLE, List.of("kind", "policy", "dimension", "value", "limits", "delete"));
				RecordPath path = RecordPath.override(record.text("policy"), record.text("dimension"),
						record.text("value"));
				yield new Change(path.key().get(), delete ? null : Map.of("limits", record.object("limits")), null);
			}
			case TIER -> {
				record.only(EXAMPLE, List.of("kind", "dimension", "value", "tier", "delete"));
				RecordPath path = RecordPath.tier(record.text("dimension"), record.text("value"));
				yield new Change(path.key().get(), delete ? null : Map.of("tier", record.text("tier")), null);
			}
			case ALLOW, DENY -> {
				record.only(EXAMPLE, List.of("kind", "entry", "delete"));
				Kind list = (kind == ImportKind.ALLOW) ? Kind.ALLOW : Kind.DENY;
				yield new Change(entry(list, record.object("entry")), delete ? null : Map.of(), null);
			}
		};
	}

	/** Kinds of records that can be imported. */
	private enum ImportKind {

		OVERRIDE, TIER, ALLOW, DENY

	}

}
