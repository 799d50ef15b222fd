/**
 * gRPC: the native service {@code ratelimit.v1.RateLimiter} and Envoy's rate-limit
 * service v3, over the same policies and counters as HTTP.
 *
 * <p>
 * <b>The way of a call.</b> {@link dev.ratelimit.grpc.RateLimitGrpcServer} accepts
 * connections, {@link dev.ratelimit.grpc.TrustedPeers} says once per connection whether
 * its peer is trusted. A service makes requests of a message (the native one through the
 * resolver that HTTP uses, Envoy's by its domains), asks the limiter and writes the
 * answer. Headers and problem documents come from {@link dev.ratelimit.web.HttpAnswers}.
 *
 * <p>
 * <b>Invariant.</b> A peer that is not trusted has no influence on whose permits are
 * taken beyond its token and its socket's address, and no deadline of its own makes a
 * failure mode answer. If this failed, any peer could spend the quota of a tenant, or
 * have every check allowed with a deadline of a millisecond.
 */
@NullMarked
package dev.ratelimit.grpc;

import org.jspecify.annotations.NullMarked;
