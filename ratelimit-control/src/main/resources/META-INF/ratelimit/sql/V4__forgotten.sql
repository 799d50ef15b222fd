-- What the store has forgotten of deleted records: see Forgotten. The same rules as in V1.

ALTER TABLE ratelimit_store ADD COLUMN IF NOT EXISTS forgotten_revision BIGINT NOT NULL DEFAULT 0;

ALTER TABLE ratelimit_store ADD COLUMN IF NOT EXISTS forgotten_version BIGINT NOT NULL DEFAULT 0;
