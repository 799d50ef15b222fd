package dev.ratelimit.store;

import dev.ratelimit.EnumText;

/**
 * Identifies a record.
 *
 * @param id {@code orders} for a policy, {@code orders/tenant/acme} for an override or a
 * tenant's own quotas, {@code tenant/acme} for a tier, {@code tenant=acme} for an entry
 * of a list
 */
public record RecordKey(Kind kind, String id) {

	/** Ids contain values that callers choose, so their length is bounded. */
	private static final int MAX_LENGTH = 512;

	public RecordKey {
		if (id.isBlank() || (id.length() > MAX_LENGTH && kind != Kind.UNKNOWN)) {
			throw new IllegalArgumentException(
					"a record's name has 1 to " + MAX_LENGTH + " characters but this one has " + id.length());
		}
	}

	/**
	 * The key of a stored record. A kind that this release does not know becomes a part
	 * of the id.
	 */
	public static RecordKey stored(String kind, String id) {
		for (Kind known : Kind.values()) {
			if (known != Kind.UNKNOWN && known.text().equals(kind)) {
				return new RecordKey(known, id);
			}
		}
		return new RecordKey(Kind.UNKNOWN, kind + '/' + id);
	}

	/** The key of a {@link #name()}. */
	public static RecordKey named(String name) {
		int slash = name.indexOf('/');
		return (slash < 0) ? new RecordKey(Kind.UNKNOWN, name)
				: stored(name.substring(0, slash), name.substring(slash + 1));
	}

	/** {@code kind/id}, as a store has them. */
	public String name() {
		return (this.kind != Kind.UNKNOWN) ? this.kind.text() + '/' + this.id : this.id;
	}

	/** Kinds of records. */
	public enum Kind implements EnumText {

		/** A whole policy. */
		POLICY,

		/** Other quotas for one caller. */
		OVERRIDE,

		/** Tighter quotas that a tenant chose itself. */
		TENANT,

		/** The tier of one caller. */
		TIER,

		/** A caller that is never limited. */
		ALLOW,

		/** A caller that is always refused. */
		DENY,

		/** A kind of a newer release: kept, and without effect. */
		UNKNOWN

	}

	/** Without the id, which may name a caller. */
	@Override
	public String toString() {
		return "record of kind " + this.kind.text();
	}

}
