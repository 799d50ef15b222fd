package dev.ratelimit.control;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Dimension;
import dev.ratelimit.PrintableText;
import dev.ratelimit.policy.CallerRecords;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Puts records about callers in force, or takes deleted ones out of force.
 */
final class RecordEffects {

	private static final Logger logger = LoggerFactory.getLogger(RecordEffects.class);

	private static final int MOST_WARNINGS = 100;

	private final RecordReader reader;

	/** Fields that were reported. */
	private final Set<String> unknown = ConcurrentHashMap.newKeySet();

	RecordEffects(RecordReader reader) {
		this.reader = reader;
	}

	void apply(RecordVersion version, CallerRecords records) {
		switch (version.key().kind()) {
			case OVERRIDE -> override(version, records);
			case TENANT -> tightening(version, records);
			case TIER -> tier(version, records);
			case ALLOW, DENY -> entry(version, records);
			case UNKNOWN -> logger.debug("A record of a newer release is kept without effect");
			case POLICY -> throw new IllegalArgumentException("a policy is not a record about a caller");
		}
	}

	private void override(RecordVersion version, CallerRecords records) {
		List<String> parts = RecordIds.parts(version.key(), 3);
		Dimension dimension = this.reader.dimension("dimension", parts.get(1));
		if (version.deleted()) {
			records.removeOverride(parts.get(0), dimension, parts.get(2));
		}
		else {
			records.putOverride(parts.get(0), dimension, parts.get(2), this.reader.override(only("limits", version)),
					version.revision());
		}
	}

	private void tightening(RecordVersion version, CallerRecords records) {
		List<String> parts = RecordIds.parts(version.key(), 3);
		if (version.deleted()) {
			records.removeTightening(parts.get(0), parts.get(2));
		}
		else {
			records.putTightening(parts.get(0), parts.get(2), this.reader.override(only("limits", version)));
		}
	}

	private void tier(RecordVersion version, CallerRecords records) {
		List<String> parts = RecordIds.parts(version.key(), 2);
		Dimension dimension = this.reader.dimension("dimension", parts.get(0));
		if (version.deleted()) {
			records.removeTier(dimension, parts.get(1));
		}
		else {
			records.putTier(dimension, parts.get(1), this.reader.tier(only("tier", version)), version.revision());
		}
	}

	/** The field that this release knows; a newer one may have written others. */
	private Map<String, Object> only(String field, RecordVersion version) {
		Map<String, Object> fields = new LinkedHashMap<>(Documents.parse(version.body()));
		for (String other : List.copyOf(fields.keySet())) {
			if (!other.equals(field)) {
				fields.remove(other);
				warn(version.key().kind(), other);
			}
		}
		return fields;
	}

	/** Once per kind and field: a newer release may write it into all of its records. */
	private void warn(Kind kind, String field) {
		if (this.unknown.size() < MOST_WARNINGS && this.unknown.add(kind.text() + ' ' + field)) {
			logger.warn("Records of kind {} have a field '{}' that this release does not know. They are in force "
					+ "without it", kind.text(), PrintableText.of(field));
		}
	}

	private void entry(RecordVersion version, CallerRecords records) {
		Map<Dimension, String> entry = this.reader.entry(version.key());
		boolean allow = version.key().kind() == Kind.ALLOW;
		if (!version.deleted()) {
			this.reader.requireEntry(version.key().kind(), entry);
		}
		if (allow && version.deleted()) {
			records.removeAllowed(entry);
		}
		else if (allow) {
			records.addAllowed(entry);
		}
		else if (version.deleted()) {
			records.removeDenied(entry);
		}
		else {
			records.addDenied(entry);
		}
	}

}
