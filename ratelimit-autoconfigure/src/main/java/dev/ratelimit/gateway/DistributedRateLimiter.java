package dev.ratelimit.gateway;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.reactive.ReactiveRateLimiter;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.EventLoops;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;
import dev.ratelimit.web.reactive.ExchangeWebCall;

/**
 * Stands in for the gateway's own Redis limiter: the same arguments and headers, under
 * {@code RequestRateLimiter} with {@code rate-limiter: "#{@distributedRateLimiter}"}. It
 * refills continuously, limits whatever the ratio of burst and rate is, says when to
 * retry, and obeys the allow- and deny-list.
 *
 * <p>
 * What a route says is checked when the route is loaded; what was loaded decides without
 * looking at it again. The gateway's interface passes no exchange, so the caller is found
 * by the exchange in Reactor's context. Without one, only the route and the key are
 * known.
 */
public class DistributedRateLimiter extends AbstractRateLimiter<DistributedRateLimiter.Config> {

	/** Id of the policy that it decides by, in meters and logs. */
	public static final String POLICY = "request-rate-limiter";

	/** As in the gateway, so that routes need not be rewritten. */
	private static final String CONFIGURATION_PROPERTY_NAME = "redis-rate-limiter";

	/** What the gateway calls filters that all routes have. */
	private static final String DEFAULT_FILTERS = "defaultFilters";

	private static final Dimension KEY = new Dimension("key");

	private final RequestResolver resolver;

	private final Supplier<PolicySet> policies;

	private final Function<Supplier<PolicySet>, RateLimiter> factory;

	private final HttpAnswers answers;

	private final HeaderOptions headers;

	private final EventLoops loops = new EventLoops();

	private final Map<String, Config> config = new CheckedConfigs();

	/** What was loaded, by route. */
	private final Map<String, RouteLimit> limits = new ConcurrentHashMap<>();

	/**
	 * One per combination of rate and burst that routes use; they share their counters.
	 */
	private final Map<Quota, RateLimiter> limiters = new ConcurrentHashMap<>();

	/** For routes about which nothing was loaded. */
	private final RouteLimit unknown;

	/**
	 * Creates the limiter.
	 * @param configuration binds the arguments of routes
	 * @param resolver finds out who calls
	 * @param policies the snapshot in force, for its lists
	 * @param factory makes a limiter over the application's counters
	 * @param answers says when to retry
	 * @param headers whether the gateway's headers are written
	 */
	public DistributedRateLimiter(ConfigurationService configuration, RequestResolver resolver,
			Supplier<PolicySet> policies, Function<Supplier<PolicySet>, RateLimiter> factory, HttpAnswers answers,
			HeaderOptions headers) {
		super(Config.class, CONFIGURATION_PROPERTY_NAME, configuration);
		this.resolver = resolver.over(new ListedPolicy(policies, policy(Quota.parse("1/s"))));
		this.policies = policies;
		this.factory = factory;
		this.answers = answers;
		this.headers = headers;
		this.unknown = new RouteLimit(factory.apply(new ListedPolicy(policies)), 1, Map.of());
	}

	/**
	 * What routes say, by id. Whatever is put here is checked.
	 */
	@Override
	public Map<String, Config> getConfig() {
		return this.config;
	}

	/**
	 * A route is loaded, or the filters of all of them. What is wrong with it is an error
	 * only if the route names this limiter: the gateway's own has the same arguments and
	 * rules of its own.
	 */
	@Override
	public void onApplicationEvent(FilterArgsEvent event) {
		if (event.getArgs().containsValue(this)) {
			super.onApplicationEvent(event);
			if (limit(event.getRouteId()) == null) {
				throw new InvalidRouteException(
						where(event.getRouteId()) + ": the RequestRateLimiter filter says nothing about its limit.",
						"Set '" + CONFIGURATION_PROPERTY_NAME + ".replenishRate' and '" + CONFIGURATION_PROPERTY_NAME
								+ ".burstCapacity'.");
			}
		}
		else if (event.getArgs().values().stream().noneMatch(DistributedRateLimiter::isLimiter)) {
			try {
				super.onApplicationEvent(event);
			}
			catch (InvalidRouteException ex) {
				// Of the limiter that routes have by default, which seldom is this one.
			}
		}
	}

	private static boolean isLimiter(@Nullable Object argument) {
		return argument instanceof org.springframework.cloud.gateway.filter.ratelimit.RateLimiter<?>;
	}

	@Override
	public Mono<Response> isAllowed(String routeId, String id) {
		RouteLimit found = limit(routeId);
		RouteLimit limit = (found != null) ? found : this.unknown;
		RateLimiter limiter = limit.limiter();
		if (limiter == null) {
			return Mono.just(new Response(false, limit.headers(this.headers, 0)));
		}
		return Mono.deferContextual((context) -> decide(limit.cost(), limiter, routeId, id, context))
			.map((decision) -> response(limit, decision));
	}

	/**
	 * The largest number of tokens that a request of any route costs.
	 */
	public long largestCost() {
		return this.limits.values().stream().mapToLong(RouteLimit::cost).reduce(1, Math::max);
	}

	/**
	 * The policy by which it decides, but for the quota the same for all routes.
	 */
	public static Policy policy(Quota quota) {
		Limit limit = new Limit("per-route-and-key", List.of(Dimension.ROUTE, KEY), List.of(quota));
		return Policy.builder(POLICY).limit(limit).build();
	}

	private @Nullable RouteLimit limit(String routeId) {
		RouteLimit limit = this.limits.get(routeId);
		return (limit != null) ? limit : this.limits.get(DEFAULT_FILTERS);
	}

	private Mono<Decision> decide(long cost, RateLimiter limiter, String routeId, String id, ContextView context) {
		ServerWebExchange exchange = ExchangeContextWebFilter.find(context);
		if (exchange == null) {
			return ReactiveRateLimiter.decided(limiter.check(request(Request.of(POLICY).withCost(cost), routeId, id)));
		}
		return ExchangeWebCall.of(exchange, routeId)
			.flatMap((call) -> ReactiveRateLimiter.decided(
					resolve(call, cost).thenCompose((request) -> limiter.check(request(request, routeId, id))),
					this.loops.of(exchange)));
	}

	/** Whoever cannot be found out is limited all the same: route and key are known. */
	private CompletionStage<Request> resolve(WebCall call, long cost) {
		return this.resolver.resolve(call, POLICY, cost, Map.of())
			.exceptionally((failure) -> this.resolver.requestFor(call, POLICY, cost));
	}

	/** The key may be anything that a caller sends. */
	private static Request request(Request request, String routeId, String id) {
		return request.with(Dimension.ROUTE, routeId).withUnverified(KEY, id);
	}

	private Response response(RouteLimit limit, Decision decision) {
		Map<String, String> headers = new HashMap<>();
		if (decision.degraded()) {
			if (this.headers.degraded() == HeaderOptions.Degraded.MARKER) {
				headers.putAll(limit.headers(this.headers, -1));
			}
		}
		else if (!decision.limits().isEmpty()) {
			headers.putAll(limit.headers(this.headers, decision.remaining()));
		}
		Long retryAfter = this.answers.retryAfter(decision);
		if (retryAfter != null) {
			headers.put("Retry-After", retryAfter.toString());
		}
		return new Response(decision.allowed(), headers);
	}

	private RouteLimit load(String routeId, Config config) {
		config.require(where(routeId));
		RateLimiter limiter = (config.burstCapacity > 0) ? this.limiters.computeIfAbsent(config.quota(), this::limiter)
				: null;
		return new RouteLimit(limiter, config.requestedTokens,
				Map.of("X-RateLimit-Replenish-Rate", String.valueOf(config.replenishRate), "X-RateLimit-Burst-Capacity",
						String.valueOf(config.burstCapacity), "X-RateLimit-Requested-Tokens",
						String.valueOf(config.requestedTokens)));
	}

	private RateLimiter limiter(Quota quota) {
		return this.factory.apply(new ListedPolicy(this.policies, policy(quota)));
	}

	private static String where(String routeId) {
		return routeId.equals(DEFAULT_FILTERS) ? "default-filters" : "route '" + routeId + "'";
	}

	/**
	 * What holds for a route.
	 *
	 * @param limiter {@code null} if everything is refused
	 * @param cost tokens of a request
	 * @param constants headers that are the same in every answer
	 */
	private record RouteLimit(@Nullable RateLimiter limiter, long cost, Map<String, String> constants) {

		Map<String, String> headers(HeaderOptions options, long remaining) {
			if (options.style() == HeaderOptions.Style.NONE || this.constants.isEmpty()) {
				return Map.of();
			}
			Map<String, String> headers = new HashMap<>(this.constants);
			headers.put("X-RateLimit-Remaining", Long.toString(remaining));
			return headers;
		}

	}

	/**
	 * Checks what is put into it, by the gateway and by routes that are written in Java.
	 */
	private final class CheckedConfigs extends ConcurrentHashMap<String, Config> {

		private static final long serialVersionUID = 1L;

		@Override
		public @Nullable Config put(String routeId, Config config) {
			DistributedRateLimiter.this.limits.put(routeId, load(routeId, config));
			return super.put(routeId, config);
		}

	}

	/**
	 * What a route says, by the names of the gateway's own limiter.
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

		private Quota quota() {
			return new Quota(this.replenishRate, Duration.ofSeconds(1), this.burstCapacity);
		}

		private void require(String where) {
			require(this.replenishRate >= 1 && this.replenishRate <= Quota.MAX_PERMITS, where, "replenishRate",
					this.replenishRate, "the tokens that come in per second, 1 to " + Quota.MAX_PERMITS);
			require(this.burstCapacity >= 0 && this.burstCapacity <= Quota.MAX_PERMITS, where, "burstCapacity",
					this.burstCapacity, "the tokens that can be taken at once, 1 to " + Quota.MAX_PERMITS
							+ ", or to 0 to refuse everything");
			require(this.requestedTokens >= 1, where, "requestedTokens", this.requestedTokens,
					"the tokens that a request costs, at least 1");
			require(this.burstCapacity == 0 || this.requestedTokens <= this.burstCapacity, where, "requestedTokens",
					this.requestedTokens,
					"at most the burstCapacity of " + this.burstCapacity + ", or no request would ever pass");
			if (this.burstCapacity > 0) {
				try {
					quota();
				}
				catch (IllegalArgumentException ex) {
					throw new InvalidRouteException(where + ": " + ex.getMessage() + ".",
							"Set '" + CONFIGURATION_PROPERTY_NAME + ".burstCapacity' to a smaller number.");
				}
			}
		}

		private static void require(boolean condition, String where, String field, long value, String fix) {
			if (!condition) {
				String name = CONFIGURATION_PROPERTY_NAME + "." + field;
				throw new InvalidRouteException(where + ": " + name + " cannot be " + value + ".",
						"Set '" + name + "' to " + fix + ".");
			}
		}

	}

}
