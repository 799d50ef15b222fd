package dev.ratelimit.gateway;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.reactive.ReactiveRateLimiter;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.EventLoops;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;
import dev.ratelimit.web.reactive.ExchangeDecisions;
import dev.ratelimit.web.reactive.ExchangeWebCall;

/**
 * Stands in for the gateway's own Redis limiter: the same arguments and headers, under
 * {@code RequestRateLimiter} with {@code rate-limiter: "#{@distributedRateLimiter}"}. It
 * refills continuously, limits at any ratio of burst and rate, says when to retry, and
 * applies the allow- and deny-list. A refusal gives back the permits that URL entries and
 * earlier filters took.
 *
 * <p>
 * The arguments of a route are checked once, when the route is loaded. The gateway's
 * interface passes no exchange, so the caller is found by the exchange in Reactor's
 * context. Without one, only the route and the key are known.
 */
public class DistributedRateLimiter extends AbstractRateLimiter<DistributedRateLimiter.Config> {

	/** Id of its policy in meters and logs. */
	public static final String POLICY = "request-rate-limiter";

	private static final Dimension KEY = new Dimension("key");

	private final RequestResolver resolver;

	private final HttpAnswers answers;

	private final HeaderOptions headers;

	private final EventLoops loops = new EventLoops();

	private final RouteLimits limits;

	/** For routes without a configuration. */
	private final RouteLimits.RouteLimit unknown;

	/**
	 * @param configuration binds the arguments of routes
	 * @param resolver resolves calls
	 * @param policies the snapshot in force, for its lists
	 * @param factory makes a limiter over the application's counters
	 * @param answers says when to retry
	 * @param headers whether the gateway's headers are written
	 */
	public DistributedRateLimiter(ConfigurationService configuration, RequestResolver resolver,
			Supplier<PolicySet> policies, Function<Supplier<PolicySet>, RateLimiter> factory, HttpAnswers answers,
			HeaderOptions headers) {
		super(Config.class, RouteLimits.PROPERTY, configuration);
		this.resolver = resolver.over(new ListedPolicy(policies, policy(Quota.parse("1/s"))));
		this.answers = answers;
		this.headers = headers;
		this.limits = new RouteLimits(
				(quota) -> new CallCheck(this.resolver, factory.apply(new ListedPolicy(policies, policy(quota)))));
		this.unknown = new RouteLimits.RouteLimit(
				new CallCheck(this.resolver, factory.apply(new ListedPolicy(policies))), 1, Map.of());
	}

	/**
	 * Adds the limits that properties give to routes by id, as the gateway's own limiter
	 * reads them. The arguments of a filter replace them.
	 */
	DistributedRateLimiter configured(Map<String, Config> configured) {
		this.limits.configured(configured);
		return this;
	}

	/**
	 * Configurations by route id. Every configuration that is put here is checked.
	 */
	@Override
	public Map<String, Config> getConfig() {
		return this.limits;
	}

	/**
	 * Loads the configuration of a route, or of all routes. A mistake in it is an error
	 * only if the route names this limiter: the gateway's own limiter has the same
	 * arguments and its own rules.
	 */
	@Override
	public void onApplicationEvent(FilterArgsEvent event) {
		if (event.getArgs().containsValue(this)) {
			super.onApplicationEvent(event);
			if (RouteLimits.DEFAULT_FILTERS.equals(event.getRouteId())) {
				this.limits.checkConfigured();
			}
			if (this.limits.find(event.getRouteId()) == null) {
				throw new InvalidPolicyException(
						RouteLimits.where(event.getRouteId())
								+ ": the RequestRateLimiter filter says nothing about its limit.",
						"Set '" + RouteLimits.PROPERTY + ".replenishRate' and '" + RouteLimits.PROPERTY
								+ ".burstCapacity'.");
			}
		}
		else if (event.getArgs().values().stream().noneMatch(DistributedRateLimiter::isLimiter)) {
			try {
				super.onApplicationEvent(event);
			}
			catch (InvalidPolicyException ex) {
				// The mistake is for the default limiter, which is rarely this one.
			}
		}
	}

	private static boolean isLimiter(@Nullable Object argument) {
		return argument instanceof org.springframework.cloud.gateway.filter.ratelimit.RateLimiter<?>;
	}

	@Override
	public Mono<Response> isAllowed(String routeId, String id) {
		RouteLimits.RouteLimit found = this.limits.find(routeId);
		RouteLimits.RouteLimit limit = (found != null) ? found : this.unknown;
		CallCheck check = limit.check();
		return Mono.deferContextual((context) -> {
			ServerWebExchange exchange = ExchangeContextWebFilter.find(context);
			Mono<Response> answer = (check == null) ? Mono.just(new Response(false, headers(limit, 0)))
					: decide(limit.cost(), check, routeId, id, exchange).map((decision) -> response(limit, decision));
			return (exchange == null) ? answer : answer.doOnNext((response) -> {
				if (!response.isAllowed()) {
					ExchangeDecisions.giveBack(exchange);
				}
			});
		});
	}

	/**
	 * The largest number of tokens that a request of any route costs.
	 */
	public long largestCost() {
		return this.limits.largestCost();
	}

	/**
	 * The policy of a route; only the quota differs between routes.
	 */
	public static Policy policy(Quota quota) {
		Limit limit = new Limit("per-route-and-key", List.of(Dimension.ROUTE, KEY), List.of(quota));
		return Policy.builder(POLICY).limit(limit).build();
	}

	private Mono<Decision> decide(long cost, CallCheck check, String routeId, String id,
			@Nullable ServerWebExchange exchange) {
		if (exchange == null) {
			Request request = Request.of(POLICY).withCost(cost).with(Dimension.ROUTE, routeId);
			return ReactiveRateLimiter.decided(check.check(keyed(request, id)));
		}
		return ExchangeWebCall.of(exchange, routeId)
			.flatMap((call) -> this.loops.decided(decide(call, cost, check, id), exchange));
	}

	/** A caller that cannot be identified is limited too: route and key are known. */
	private CompletableFuture<Decision> decide(WebCall call, long cost, CallCheck check, String id) {
		Map<String, DimensionResolver> key = Map.of(KEY.name(), (any) -> id);
		CompletableFuture<Request> request = this.resolver.resolve(call, POLICY, cost, key);
		if (request.isDone() && !request.isCompletedExceptionally()) {
			return check.check(keyed(request.join(), id));
		}
		return request.exceptionally((failure) -> this.resolver.requestFor(call, POLICY, cost, key))
			.thenCompose((resolved) -> check.check(keyed(resolved, id)));
	}

	/**
	 * The request with its key, which callers may choose. The resolver leaves blank keys
	 * out; the gateway counts them.
	 */
	private static Request keyed(Request request, String id) {
		return request.dimensions().containsKey(KEY) ? request : request.withUnverified(KEY, id);
	}

	private Response response(RouteLimits.RouteLimit limit, Decision decision) {
		Map<String, String> headers = Map.of();
		if (decision.degraded()) {
			if (this.headers.degraded() == HeaderOptions.Degraded.MARKER) {
				headers = headers(limit, -1);
			}
		}
		else {
			LimitStatus decisive = decision.decisive();
			headers = (decisive != null) ? headers(limit, decisive.remaining()) : headers;
		}
		Long retryAfter = this.answers.retryAfter(decision);
		if (retryAfter != null) {
			headers = new HashMap<>(headers);
			headers.put("Retry-After", retryAfter.toString());
		}
		return new Response(decision.allowed(), headers);
	}

	private Map<String, String> headers(RouteLimits.RouteLimit limit, long remaining) {
		return this.headers.any() ? limit.headers(remaining) : Map.of();
	}

	/**
	 * Arguments of a route, with the names of the gateway's own limiter.
	 */
	public static class Config {

		private int replenishRate;

		private long burstCapacity = 1;

		private int requestedTokens = 1;

		/**
		 * Tokens that come in per second, at least 1.
		 */
		public int getReplenishRate() {
			return this.replenishRate;
		}

		public Config setReplenishRate(int replenishRate) {
			this.replenishRate = replenishRate;
			return this;
		}

		/**
		 * Tokens that can be taken at once; 0 refuses everything.
		 */
		public long getBurstCapacity() {
			return this.burstCapacity;
		}

		public Config setBurstCapacity(long burstCapacity) {
			this.burstCapacity = burstCapacity;
			return this;
		}

		/**
		 * Tokens that a request costs, at least 1 and at most the burst.
		 */
		public int getRequestedTokens() {
			return this.requestedTokens;
		}

		public Config setRequestedTokens(int requestedTokens) {
			this.requestedTokens = requestedTokens;
			return this;
		}

	}

}
