/**
 * The annotation for controllers and other beans.
 */
@NullMarked
package dev.ratelimit.aop;

import org.jspecify.annotations.NullMarked;
