/**
 * HTTP calls of the reactive stack.
 * <ul>
 * <li>a call: {@link ExchangeWebCall} reads it, {@link ExchangeDecisions} answers it,
 * {@link ExchangeContextWebFilter} makes it known to code that it runs;
 * {@link EventLoops} brings decisions back to its thread</li>
 * <li>URL entries: {@link UrlLimitWebFilter} with {@link ExchangeCorsHeaders} on
 * refusals; {@link TappedResponse} reads true costs</li>
 * <li>Netty: {@link NettyChannels}; {@link RefusedConnections} closes those of clients in
 * a loop; {@link QueuedRequests} mends old versions, wired by
 * {@link RateLimitReactorNettyAutoConfiguration}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.web.reactive;

import org.jspecify.annotations.NullMarked;
