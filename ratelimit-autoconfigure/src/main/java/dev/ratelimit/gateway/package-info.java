/**
 * The filter for Spring Cloud Gateway routes.
 */
@NullMarked
package dev.ratelimit.gateway;

import org.jspecify.annotations.NullMarked;
