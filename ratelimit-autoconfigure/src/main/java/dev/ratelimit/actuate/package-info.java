/**
 * The actuator endpoint, the health component and Boot's audit events.
 */
@NullMarked
package dev.ratelimit.actuate;

import org.jspecify.annotations.NullMarked;
