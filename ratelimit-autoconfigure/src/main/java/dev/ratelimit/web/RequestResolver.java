package dev.ratelimit.web;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.background.Futures;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Makes a request of an HTTP call: the one place where facts of HTTP become facts about a
 * caller.
 */
public final class RequestResolver {

	/**
	 * Stands for a cost whose expression failed on what a caller sent: the largest cost
	 * that fits is charged.
	 */
	public static final long UNKNOWN_COST = Long.MIN_VALUE;

	private final ClientIp clientIp;

	private final IdentityResolver identities;

	private final @Nullable String region;

	private final CustomDimensions custom;

	private final Supplier<PolicySet> policies;

	private final ResolutionPlans plans = new ResolutionPlans();

	/**
	 * @param identity where facts about a caller are found
	 * @param region region of this instance
	 * @param dimensions resolvers of custom dimensions by name; those whose name no
	 * dimension can have are for routes to refer to
	 * @param verifier knows API keys, {@code null} if only the configured ones are known
	 * @param callers identify callers without a token, in this order
	 * @param policies the snapshot in force
	 * @throws IllegalArgumentException if a resolver has the name of a built-in dimension
	 */
	public RequestResolver(IdentityOptions identity, String region, Map<String, DimensionResolver> dimensions,
			@Nullable ApiKeyVerifier verifier, List<CallerResolver> callers, Supplier<PolicySet> policies) {
		this.custom = new CustomDimensions(dimensions, identity.resolvers().contains(CallerSource.OIDC));
		this.clientIp = new ClientIp(identity);
		this.identities = new IdentityResolver(identity, this.clientIp, new KnownKeys(identity.apiKeys(), verifier),
				callers);
		this.region = Identity.text(region);
		this.policies = policies;
	}

	private RequestResolver(RequestResolver other, IdentityResolver identities, Supplier<PolicySet> policies) {
		this.clientIp = other.clientIp;
		this.identities = identities;
		this.region = other.region;
		this.custom = other.custom;
		this.policies = policies;
	}

	/**
	 * The same resolver for other policies and their lists.
	 */
	public RequestResolver over(Supplier<PolicySet> policies) {
		return new RequestResolver(this, this.identities, policies);
	}

	/**
	 * The same resolver for calls that are not authenticated yet: of the caller it knows
	 * the address alone, and a key only if the deny-list names it.
	 */
	public RequestResolver beforeAuthentication() {
		return new RequestResolver(this, this.identities.addressOnly(), this.policies);
	}

	/**
	 * Makes a request of a call, with all known facts about its caller. Custom dimensions
	 * are resolved only where the policy names them or the edge passes them.
	 *
	 * <p>
	 * Failures that a caller may be able to provoke do not fail the request. A resolver
	 * that throws leaves its dimension out, a path that throws costs the largest cost
	 * that fits, and a key that cannot be verified is unverified; the request says so.
	 * Other failures complete the future with a {@link ResolutionException}, for the
	 * policy's failure mode to answer, see {@link #requestFor}. An invalid cost completes
	 * it with an {@link IllegalArgumentException} and must not be let pass, as a caller
	 * may have chosen it.
	 * @param policy id of the policy that will decide
	 * @param cost overrides the costs of paths in the policy; {@code null} if the edge
	 * has none, {@link #UNKNOWN_COST} if its expression failed
	 * @param extra resolvers of custom dimensions for this route only, by name
	 */
	public CompletableFuture<Request> resolve(WebCall call, String policy, @Nullable Long cost,
			Map<String, DimensionResolver> extra) {
		if (!isCost(cost)) {
			return CompletableFuture.failedFuture(notACost());
		}
		try {
			CompletableFuture<Identity> caller = this.identities.resolve(call);
			if (caller.isDone()) {
				return CompletableFuture.completedFuture(request(call, policy, cost, extra, caller.join()));
			}
			CompletableFuture<Request> request = new CompletableFuture<>();
			caller.thenApply((known) -> request(call, policy, cost, extra, known)).whenComplete((made, failure) -> {
				if (failure == null) {
					request.complete(made);
				}
				else {
					request.completeExceptionally(notResolved(policy, failure));
				}
			});
			return request;
		}
		catch (Throwable ex) {
			// Errors too: they may be a caller's doing.
			return CompletableFuture.failedFuture(notResolved(policy, ex));
		}
	}

	/**
	 * A request with all facts that are known without waiting, for a call that cannot be
	 * resolved or must not wait for its API key to be verified. The request says that its
	 * key is unverified.
	 * @throws IllegalArgumentException if the cost is invalid
	 */
	public Request requestFor(WebCall call, String policy, @Nullable Long cost, Map<String, DimensionResolver> extra) {
		if (!isCost(cost)) {
			throw notACost();
		}
		try {
			return request(call, policy, cost, extra, this.identities.claimed(call));
		}
		catch (RuntimeException | LinkageError | StackOverflowError ex) {
			return requestFor(call, policy, cost);
		}
	}

	/**
	 * A request for a call that could not be resolved, with the facts that cannot fail:
	 * the caller and its address, so that the deny-list and a floor per IP still hold,
	 * the route and the region.
	 * @throws IllegalArgumentException if the cost is invalid
	 */
	Request requestFor(WebCall call, String policy, @Nullable Long cost) {
		if (!isCost(cost)) {
			throw notACost();
		}
		Identity caller = Identity.NOBODY;
		String route = null;
		RequestIds ids = RequestIds.NONE;
		try {
			route = call.route();
			caller = this.identities.claimed(call);
			ids = RequestIds.of(call, this.clientIp);
		}
		catch (RuntimeException ex) {
			// The remaining facts stay unknown.
		}
		CallerFacts facts = new CallerFacts(policy, caller, route, this.region);
		if (caller.apiKey() == null) {
			putDeniedKey(facts, call, policy, this.policies.get());
		}
		return facts.request((cost != null) ? cost : 1, ids);
	}

	/**
	 * Whether the policy of a request counts by facts that the request does not have.
	 * @param given a dimension that the edge has given a value, if it has one
	 */
	public boolean lacksCaller(Request request, Dimension given) {
		Match match = this.policies.get().match(request);
		return match != null && match.policy()
			.limits()
			.stream()
			.flatMap((limit) -> limit.by().stream())
			.anyMatch((dimension) -> !request.dimensions().containsKey(dimension) && !dimension.equals(given));
	}

	/**
	 * Whether the deny-list names the caller of a request, for an edge whose limiter
	 * fails.
	 */
	public boolean denies(Request request) {
		return this.policies.get().denies(request);
	}

	/**
	 * Checks names that a route gives to its own dimensions.
	 * @throws IllegalArgumentException naming the dimension and the fix
	 */
	public static void requireCustom(Collection<String> names) {
		names.forEach((name) -> CustomDimensions.requireNotBuiltIn(new Dimension(name).name()));
	}

	private Request request(WebCall call, String policy, @Nullable Long cost, Map<String, DimensionResolver> extra,
			Identity caller) {
		PolicySet policies = this.policies.get();
		ResolutionPlans.Plan plan = this.plans.find(policies, policy);
		CallerFacts facts = new CallerFacts(policy, caller, call.route(), this.region);
		if (caller.apiKey() == null && (plan == null || plan.listsKeys())) {
			putDeniedKey(facts, call, policy, policies);
		}
		List<Dimension> needed = (plan != null) ? plan.custom() : List.of();
		if (!needed.isEmpty() || !extra.isEmpty()) {
			this.custom.forEach(needed, extra, (dimension, resolver) -> putCustom(facts, dimension, resolver, call));
		}
		long permits = (cost != null) ? cost : 1;
		if (cost == null && plan != null && plan.hasCosts()) {
			permits = cost(plan, policies, call, facts);
		}
		Request request = facts.request(permits, RequestIds.of(call, this.clientIp));
		String header = (plan != null) ? plan.idempotencyHeader() : null;
		String key = (header != null) ? idempotencyKey(call, header) : null;
		return (key != null) ? request.withIdempotencyKey(key) : request;
	}

	/**
	 * Otherwise a caller could send every request as a retry of one that was admitted.
	 */
	private @Nullable String idempotencyKey(WebCall call, String header) {
		List<String> ids = call.forwards() ? call.headers(header) : List.of();
		return (ids.size() == 1 && Idempotency.isId(ids.get(0)) && this.clientIp.isKnownProxy(call)) ? ids.get(0)
				: null;
	}

	/** Callers choose the path and may be able to make it fail. */
	private long cost(ResolutionPlans.Plan plan, PolicySet policies, WebCall call, CallerFacts facts) {
		try {
			return plan.cost(call.rawPath(), () -> policies.match(facts.request(1, RequestIds.NONE)));
		}
		catch (RuntimeException | StackOverflowError ex) {
			this.custom.warn("costs",
					"The cost of a path is unknown because of {}; such requests are charged the largest cost "
							+ "that fits",
					ex);
			return UNKNOWN_COST;
		}
	}

	private void putCustom(CallerFacts facts, Dimension dimension, DimensionResolver resolver, WebCall call) {
		try {
			facts.putCustom(dimension, resolver.resolve(call), resolver.verified());
		}
		catch (Throwable ex) {
			facts.fail(dimension);
			this.custom.warn(dimension.name(), "The resolver of dimension '" + dimension
					+ "' failed with {}; such requests count as requests without this dimension", ex);
		}
	}

	/**
	 * A caller that presents two different keys has none, but the upstream may take
	 * either: if one of them is on the deny-list, the caller is denied.
	 */
	private void putDeniedKey(CallerFacts facts, WebCall call, String policy, PolicySet policies) {
		for (String key : this.identities.presentedKeys(call)) {
			if (policies.denies(Request.of(policy).withUnverified(Dimension.API_KEY, key))) {
				facts.put(Dimension.API_KEY, key);
				return;
			}
		}
	}

	private static boolean isCost(@Nullable Long cost) {
		return cost == null || cost == UNKNOWN_COST || (cost >= 0 && cost <= Quota.MAX_PERMITS);
	}

	/** Without the number: a caller may have chosen it. */
	private static IllegalArgumentException notACost() {
		return new IllegalArgumentException("a cost is 0 to " + Quota.MAX_PERMITS);
	}

	private static ResolutionException notResolved(String policy, Throwable failure) {
		return new ResolutionException("cannot resolve the call for policy '" + policy + "'", Futures.cause(failure));
	}

}
