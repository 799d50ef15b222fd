-- Chains the entries of the audit trail by hashes. The same rules as in V1. Columns are null in entries of an earlier
-- version, also in those that its instances still write.

ALTER TABLE ratelimit_audit ADD COLUMN IF NOT EXISTS entry_id TEXT;

-- By the clock of the instance; happened_at is the time of the trail, which orders the entries.
ALTER TABLE ratelimit_audit ADD COLUMN IF NOT EXISTS attempted_at TIMESTAMPTZ;

ALTER TABLE ratelimit_audit ADD COLUMN IF NOT EXISTS chain_number BIGINT;

ALTER TABLE ratelimit_audit ADD COLUMN IF NOT EXISTS previous_hash TEXT;

ALTER TABLE ratelimit_audit ADD COLUMN IF NOT EXISTS hash TEXT;

CREATE UNIQUE INDEX IF NOT EXISTS ratelimit_audit_entry_id ON ratelimit_audit (entry_id);

-- One row: the newest entry of the chain. Writers queue on it.
CREATE TABLE IF NOT EXISTS ratelimit_audit_chain (
	one BIGINT PRIMARY KEY CHECK (one = 1),
	number BIGINT NOT NULL,
	hash TEXT NOT NULL,
	last_at TIMESTAMPTZ NOT NULL
);
