/**
 * Checks over gRPC: how many a connection carries, and what they cost.
 */
@NullMarked
package dev.ratelimit.benchmarks.grpc;

import org.jspecify.annotations.NullMarked;
