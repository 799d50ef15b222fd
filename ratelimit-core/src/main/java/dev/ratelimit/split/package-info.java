/**
 * Counters that are kept in parts on different slots, so that the load of one hot counter
 * is not on one node.
 */
@NullMarked
package dev.ratelimit.split;

import org.jspecify.annotations.NullMarked;
