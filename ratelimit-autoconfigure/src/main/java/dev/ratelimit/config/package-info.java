/**
 * Properties and documents become policies: binding, checks with the fix, and reloads.
 */
@NullMarked
package dev.ratelimit.config;

import org.jspecify.annotations.NullMarked;
