package dev.ratelimit.store;

import java.util.Locale;

/**
 * Which record.
 *
 * @param kind what it is about
 * @param id names it among its kind: {@code orders} for a policy,
 * {@code orders/tenant/acme} for an override or what a tenant has given itself,
 * {@code tenant/acme} for a tier assignment, {@code tenant=acme} for an entry of a list
 */
public record RecordKey(Kind kind, String id) {

	/** Values that callers choose end up in ids; more than this nobody means. */
	private static final int MAX_LENGTH = 512;

	public RecordKey {
		if (id.isBlank() || id.length() > MAX_LENGTH) {
			throw new IllegalArgumentException(
					"a record's name has 1 to " + MAX_LENGTH + " characters but this one has " + id.length());
		}
	}

	/**
	 * What a record is about.
	 */
	public enum Kind {

		/** A whole policy. */
		POLICY,

		/** Other quotas for one caller. */
		OVERRIDE,

		/** Tighter quotas that a tenant has given itself. */
		TENANT,

		/** The plan of one caller. */
		TIER,

		/** A caller that is never limited. */
		ALLOW,

		/** A caller that is always turned away. */
		DENY;

		public String text() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/** Without the id, which may name a caller. */
	@Override
	public String toString() {
		return "record of kind " + this.kind.text();
	}

}
