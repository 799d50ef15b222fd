/**
 * {@link SqlPolicyStore} keeps records in PostgreSQL or CockroachDB, through R2DBC.
 * <ul>
 * <li>access: {@link Database} opens a {@link Session} with its {@link Rows}, and
 * {@link Schema} makes the tables</li>
 * <li>content: {@link RecordWrite}, {@link SqlAudit} for the audit trail and
 * {@link SqlFleetSums}</li>
 * <li>upkeep: {@link Notifications} of changes, {@link ExpiredRows} and
 * {@link ForgottenRecords}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.store.sql;

import org.jspecify.annotations.NullMarked;
