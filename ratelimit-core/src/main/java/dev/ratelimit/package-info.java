/**
 * The vocabulary: policies and what they limit, requests and what was decided about them.
 * Depends on nothing.
 */
@NullMarked
package dev.ratelimit;

import org.jspecify.annotations.NullMarked;
