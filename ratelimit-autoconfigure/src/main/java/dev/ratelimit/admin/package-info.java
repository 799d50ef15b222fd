/**
 * All operations on limits at run time. Each checks who may call it, and records the
 * attempt. They need neither the actuator nor a controller.
 * <ul>
 * <li>operations: {@link AdminOperations} has {@link Overview}, {@link PolicyAdmin},
 * {@link RecordAdmin}, {@link SwitchAdmin}, {@link HotKeyAdmin}, {@link BanAdmin},
 * {@link UsageAdmin}, {@link RefusalAdmin} and {@link AuditAdmin}; {@link AdminDoors}
 * says which are offered outside of the endpoint</li>
 * <li>a call: {@link AdminAccess} allows it by an {@link AdminCheck}, usually
 * {@link AuthorityCheck}; {@link Fields} reads its parameters, with {@link CallerFields},
 * {@link RecordRequest} and {@link RecordPath}; an {@link AdminProblem} is its refusal,
 * which {@link Failures} makes of failures</li>
 * <li>answers: {@link PolicyView}, {@link PolicyContent}, {@link UsageView},
 * {@link AuditView} and {@link RecordNames}</li>
 * <li>the audit trail: {@link Audit}, {@link AuditListener}, {@link AuditTrail},
 * {@link AuditWriter}, {@link AuditTrimmer} with {@link AuditOptions}, and
 * {@link ReloadAudit} with {@link ReloadClaims}</li>
 * <li>HTTP: {@link AdminController} is what endpoints extend; {@link ServletAdminErrors}
 * and {@link BodyLimitWebFilter} bound its bodies</li>
 * <li>beans: {@link RateLimitAdminAutoConfiguration}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.admin;

import org.jspecify.annotations.NullMarked;
