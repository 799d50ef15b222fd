/**
 * Wires the core. The auto-configurations of other packages build on its beans.
 * <ul>
 * <li>limits: {@link RateLimitAutoConfiguration} with {@link Policies},
 * {@link HashingConfiguration}, {@link RefusedConnectionsConfiguration} and
 * {@link StartupLine}; {@link RateLimitUrlsAutoConfiguration} with
 * {@link UrlCorsConfiguration}; {@link RateLimitRuntimeHints}</li>
 * <li>Redis: {@link RateLimitRedisAutoConfiguration} if {@link OnRedisBackend} says so,
 * over a {@link LimiterConnection} that {@link ConnectionFactories} chooses;
 * {@link RedisAddress}, {@link BoundedClose}, {@link WarmUp}, {@link MissingLettuce} and
 * {@link BackendCheck}</li>
 * <li>the fleet: {@link RateLimitFleetAutoConfiguration} with {@link PulseLifecycle}</li>
 * <li>changes at run time: {@link RateLimitStoreAutoConfiguration} with
 * {@link OnRedisStore}, {@link RedisStoreConnection} and {@link StoreName};
 * {@link RateLimitControlAutoConfiguration} with {@link StoreFollower},
 * {@link StoreStart} and {@link SnapshotPath}</li>
 * <li>refusals: {@link RateLimitRefusalsAutoConfiguration} with
 * {@link LiveRefusalContext} and {@link RecentChanges}</li>
 * <li>checks at the start: {@link UnknownPolicies} and {@link ForwardedHeadersCheck}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.autoconfigure;

import org.jspecify.annotations.NullMarked;
