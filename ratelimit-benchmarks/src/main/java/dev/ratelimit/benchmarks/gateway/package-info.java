/**
 * What a filter costs a gateway, over HTTP: one gateway process with a route for each
 * filter.
 */
@NullMarked
package dev.ratelimit.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;
