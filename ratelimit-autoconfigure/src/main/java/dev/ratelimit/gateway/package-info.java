/**
 * Spring Cloud Gateway: the filter for its routes, and a stand-in for its own limiter.
 * <ul>
 * <li>routes on WebFlux: {@link RateLimitGatewayFilterFactory} with {@link RouteCheck};
 * {@link SettleGlobalFilter} and {@link SettlingResponse} read true costs</li>
 * <li>routes on WebMVC: {@link RateLimitFilterFunctions} with {@link MvcRouteCheck};
 * {@link MvcReadableEncoding}</li>
 * <li>the stand-in: {@link DistributedRateLimiter} with {@link RouteLimits},
 * {@link ListedPolicy} and {@link StandInCosts}</li>
 * <li>checks at the start: {@link RoutePolicyCheck} over each {@link RouteFilter} of
 * {@link ConfiguredRoutes} or {@link MvcRoutes}, and {@link StandInRoutes}</li>
 * <li>beans: {@link RateLimitGatewayAutoConfiguration},
 * {@link RateLimitGatewayMvcAutoConfiguration},
 * {@link RateLimitGatewayDisabledAutoConfiguration}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.gateway;

import org.jspecify.annotations.NullMarked;
