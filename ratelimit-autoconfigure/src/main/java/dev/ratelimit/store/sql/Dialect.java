package dev.ratelimit.store.sql;

/**
 * Which database it is.
 */
enum Dialect {

	POSTGRESQL,

	/** Has neither LISTEN nor NOTIFY. */
	COCKROACHDB;

	static Dialect of(String version) {
		return version.contains("CockroachDB") ? COCKROACHDB : POSTGRESQL;
	}

}
