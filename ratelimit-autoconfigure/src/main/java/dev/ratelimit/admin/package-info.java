/**
 * All operations on limits at run time: policies, records, the switch, hot keys, usage,
 * refusals and the audit trail. Each checks who may call it, and records the attempt.
 * They need neither the actuator nor a controller.
 */
@NullMarked
package dev.ratelimit.admin;

import org.jspecify.annotations.NullMarked;
