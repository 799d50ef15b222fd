/**
 * The vocabulary: policies and their limits, requests and decisions. Depends on no other
 * package.
 */
@NullMarked
package dev.ratelimit;

import org.jspecify.annotations.NullMarked;
