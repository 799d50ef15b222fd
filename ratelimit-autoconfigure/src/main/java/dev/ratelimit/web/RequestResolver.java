package dev.ratelimit.web;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;

/**
 * Makes a request of an HTTP call: the one place where facts of HTTP become facts about a
 * caller.
 */
public final class RequestResolver {

	private final IdentityOptions identity;

	private final IdentityResolver identities;

	private final @Nullable String region;

	private final Map<String, DimensionResolver> dimensions;

	private final Supplier<PolicySet> policies;

	private final ResolutionPlans plans = new ResolutionPlans();

	/** By name; names come from the configuration only, so there are few. */
	private final Map<String, Dimension> named = new ConcurrentHashMap<>();

	/**
	 * Creates a resolver.
	 * @param identity where facts about a caller are found
	 * @param region where this instance runs
	 * @param dimensions resolvers of custom dimensions by name; those whose name no
	 * dimension can have are for routes to refer to
	 * @param verifier knows API keys, {@code null} if only the configured ones are known
	 * @param policies the snapshot in force
	 * @throws IllegalArgumentException if a resolver has the name of a built-in dimension
	 */
	public RequestResolver(IdentityOptions identity, String region, Map<String, DimensionResolver> dimensions,
			@Nullable ApiKeyVerifier verifier, Supplier<PolicySet> policies) {
		dimensions.keySet().forEach(RequestResolver::requireNotBuiltIn);
		this.identity = identity;
		this.identities = new IdentityResolver(identity, verifier);
		this.region = Identity.text(region);
		this.dimensions = Map.copyOf(dimensions);
		this.policies = policies;
	}

	/**
	 * Makes a request of a call, with all that is known about its caller. Custom
	 * dimensions are resolved only where the policy names them or the edge passes them.
	 *
	 * <p>
	 * Whatever goes wrong, a resolver that throws included, completes the stage with a
	 * {@link ResolutionException}, for the policy's failure mode to answer with
	 * {@link #requestFor(WebCall, String, Long)}. The exception is a cost that is none:
	 * that is the argument's fault, completes the stage with an
	 * {@link IllegalArgumentException} and must not be let pass, as a caller may have
	 * chosen it.
	 * @param call the call
	 * @param policy id of the policy that will decide
	 * @param cost beats the policy's patterns, which beat 1; {@code null} if the edge
	 * does not say
	 * @param extra resolvers of custom dimensions that hold for this route only, by name
	 */
	public CompletionStage<Request> resolve(WebCall call, String policy, @Nullable Long cost,
			Map<String, DimensionResolver> extra) {
		if (!isCost(cost)) {
			return CompletableFuture.failedStage(notACost());
		}
		CompletableFuture<Request> request = new CompletableFuture<>();
		try {
			this.identities.resolve(call)
				.whenComplete((caller, failure) -> complete(request, call, policy, cost, extra, caller, failure));
		}
		catch (RuntimeException ex) {
			request.completeExceptionally(notResolved("the caller", policy, ex));
		}
		return request;
	}

	/**
	 * A request without any dimension, for a call of which nothing is known.
	 * @throws IllegalArgumentException if the cost is none
	 */
	public Request requestFor(String policy, @Nullable Long cost) {
		if (!isCost(cost)) {
			throw notACost();
		}
		long permits = (cost != null) ? cost : 1;
		return new Request(policy, Map.of(), Set.of(), null, permits, permits);
	}

	/**
	 * A request for a call that could not be resolved, with what is known even then: the
	 * address, so that a floor per IP still holds, the route and the region.
	 * @throws IllegalArgumentException if the cost is none
	 */
	public Request requestFor(WebCall call, String policy, @Nullable Long cost) {
		Request unknown = requestFor(policy, cost);
		Map<Dimension, String> facts = new HashMap<>();
		String id = null;
		String traceId = null;
		try {
			put(facts, Dimension.IP, ClientIp.of(call, this.identity.trustedHops()));
			put(facts, Dimension.ROUTE, call.route());
			id = RequestIds.of(call);
			traceId = call.traceId();
		}
		catch (RuntimeException ex) {
			// Then they are not known: this is for calls that cannot be understood.
		}
		put(facts, Dimension.REGION, this.region);
		return new Request(policy, facts, Set.of(), null, unknown.cost(), unknown.atLeast(), id, traceId);
	}

	/**
	 * Checks what of a policy only HTTP gives a meaning to: its path patterns.
	 * @throws IllegalArgumentException naming the policy, the pattern and the fix
	 */
	public static void validate(Policy policy) {
		CostPatterns.of(policy);
	}

	/**
	 * Checks names that a route gives to its own dimensions.
	 * @throws IllegalArgumentException naming the dimension and the fix
	 */
	public static void requireCustom(Collection<String> names) {
		names.forEach((name) -> requireNotBuiltIn(new Dimension(name).name()));
	}

	private void complete(CompletableFuture<Request> request, WebCall call, String policy, @Nullable Long cost,
			Map<String, DimensionResolver> extra, @Nullable Identity caller, @Nullable Throwable failure) {
		try {
			if (caller != null) {
				request.complete(request(call, policy, cost, extra, caller));
			}
			else {
				request.completeExceptionally(
						notResolved("the caller", policy, (failure != null) ? failure : new IllegalStateException()));
			}
		}
		catch (ResolutionException ex) {
			request.completeExceptionally(ex);
		}
		catch (RuntimeException | LinkageError | StackOverflowError ex) {
			request.completeExceptionally(notResolved("the call", policy, ex));
		}
	}

	private Request request(WebCall call, String policy, @Nullable Long cost, Map<String, DimensionResolver> extra,
			Identity caller) {
		PolicySet policies = this.policies.get();
		ResolutionPlans.Plan plan = this.plans.find(policies, policy);
		Map<Dimension, String> facts = new HashMap<>();
		put(facts, Dimension.USER, caller.user());
		put(facts, Dimension.TENANT, caller.tenant());
		put(facts, Dimension.IP, caller.ip());
		put(facts, Dimension.ROUTE, call.route());
		put(facts, Dimension.REGION, this.region);
		put(facts, Dimension.API_KEY, caller.apiKey());
		for (Dimension dimension : (plan != null) ? plan.custom() : List.<Dimension>of()) {
			DimensionResolver resolver = this.dimensions.get(dimension.name());
			if (resolver != null && !extra.containsKey(dimension.name())) {
				put(facts, dimension, custom(dimension, resolver, call, policy));
			}
		}
		extra.forEach((name, resolver) -> {
			Dimension dimension = named(name);
			put(facts, dimension, custom(dimension, resolver, call, policy));
		});
		boolean claimed = caller.apiKey() != null && !caller.apiKeyVerified();
		Set<Dimension> unverified = claimed ? Set.of(Dimension.API_KEY) : Set.of();
		long permits = (cost != null) ? cost : (plan != null) ? plan.cost(call.rawPath(),
				() -> policies.match(new Request(policy, facts, unverified, caller.tier(), 1, 1))) : 1;
		return new Request(policy, facts, unverified, caller.tier(), permits, permits, RequestIds.of(call),
				call.traceId());
	}

	private Dimension named(String name) {
		Dimension known = this.named.get(name);
		if (known != null) {
			return known;
		}
		requireNotBuiltIn(name);
		Dimension dimension = new Dimension(name);
		this.named.put(name, dimension);
		return dimension;
	}

	private static @Nullable String custom(Dimension dimension, DimensionResolver resolver, WebCall call,
			String policy) {
		try {
			return resolver.resolve(call);
		}
		catch (RuntimeException ex) {
			throw notResolved("dimension '" + dimension + "'", policy, ex);
		}
	}

	private static void put(Map<Dimension, String> facts, Dimension dimension, @Nullable String value) {
		if (value != null && !value.isBlank()) {
			facts.put(dimension, value);
		}
	}

	private static boolean isCost(@Nullable Long cost) {
		return cost == null || (cost >= 0 && cost <= Quota.MAX_PERMITS);
	}

	/** Without the number: a caller may have chosen it. */
	private static IllegalArgumentException notACost() {
		return new IllegalArgumentException("a cost is 0 to " + Quota.MAX_PERMITS);
	}

	private static void requireNotBuiltIn(String name) {
		if (ResolutionPlans.BUILT_IN.stream().anyMatch((dimension) -> dimension.name().equals(name))) {
			throw new IllegalArgumentException("a DimensionResolver is named '" + name
					+ "', which is a dimension of its own that only verified facts give a value; give it another name");
		}
	}

	private static ResolutionException notResolved(String what, String policy, Throwable cause) {
		return new ResolutionException("cannot resolve " + what + " for policy '" + policy + "'", cause);
	}

}
