/**
 * The policy store in PostgreSQL or CockroachDB, through R2DBC.
 */
@NullMarked
package dev.ratelimit.store.sql;

import org.jspecify.annotations.NullMarked;
