-- What instances count, added up over the fleet. The same rules as in V1.

-- One number. There is no index on added_at: the rows are few, and they are written about once a second, which is
-- cheaper while no index changes.
CREATE TABLE IF NOT EXISTS ratelimit_sum (
	name TEXT NOT NULL,
	place BIGINT NOT NULL,
	total BIGINT NOT NULL,
	added_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (name, place)
);
