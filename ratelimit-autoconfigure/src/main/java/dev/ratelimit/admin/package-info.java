/**
 * What all that changes limits at run time shares: who may, the trail of attempts, and
 * how they are answered.
 */
@NullMarked
package dev.ratelimit.admin;

import org.jspecify.annotations.NullMarked;
