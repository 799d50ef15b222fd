-- Tables of the policy store, in SQL that both PostgreSQL and CockroachDB accept.
-- Every statement can be repeated and only adds: several instances may run it at once, one may die half-way,
-- and instances of the version before go on with the result. A statement ends with a semicolon at the end of a line.

-- One row. Every write adds to its revision first, so that writers queue on it.
CREATE TABLE IF NOT EXISTS ratelimit_store (
	one BIGINT PRIMARY KEY CHECK (one = 1),
	store_id TEXT NOT NULL,
	revision BIGINT NOT NULL
);

-- Which version of a record is the newest.
CREATE TABLE IF NOT EXISTS ratelimit_record (
	kind TEXT NOT NULL,
	id TEXT NOT NULL,
	version BIGINT NOT NULL,
	revision BIGINT NOT NULL,
	PRIMARY KEY (kind, id)
);

CREATE INDEX IF NOT EXISTS ratelimit_record_revision ON ratelimit_record (revision);

-- All versions; only ever added to. A body that is null is a deletion.
CREATE TABLE IF NOT EXISTS ratelimit_record_version (
	kind TEXT NOT NULL,
	id TEXT NOT NULL,
	version BIGINT NOT NULL,
	revision BIGINT NOT NULL,
	body TEXT,
	actor TEXT NOT NULL,
	written_at TIMESTAMPTZ NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (kind, id, version)
);

-- Every attempt to change something; only ever added to.
CREATE TABLE IF NOT EXISTS ratelimit_audit (
	entry BIGINT GENERATED ALWAYS AS IDENTITY,
	happened_at TIMESTAMPTZ NOT NULL,
	action TEXT NOT NULL,
	outcome TEXT NOT NULL,
	actor TEXT NOT NULL,
	target TEXT NOT NULL,
	value_before TEXT NOT NULL,
	value_after TEXT NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (happened_at, entry)
);

-- Which instance does a task, and until when by the database's clock.
CREATE TABLE IF NOT EXISTS ratelimit_leader (
	task TEXT PRIMARY KEY,
	owner TEXT NOT NULL,
	expires_at TIMESTAMPTZ NOT NULL
);
