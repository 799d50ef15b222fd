package dev.ratelimit.web;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Dimension;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Makes a request of an HTTP call: the one place where facts of HTTP become facts about a
 * caller.
 */
public final class RequestResolver {

	/**
	 * Stands for a cost that could not be found out, because its expression failed on
	 * what a caller sent: the largest that fits is charged.
	 */
	public static final long UNKNOWN_COST = Long.MIN_VALUE;

	private static final Logger logger = LoggerFactory.getLogger(RequestResolver.class);

	private static final Set<Dimension> IP_ONLY = Set.of(Dimension.IP);

	private static final Set<Dimension> KEY_ONLY = Set.of(Dimension.API_KEY);

	private static final Set<Dimension> IP_AND_KEY = Set.of(Dimension.IP, Dimension.API_KEY);

	private final ClientIp clientIp;

	private final IdentityResolver identities;

	private final @Nullable String region;

	private final Map<String, DimensionResolver> dimensions;

	private final Supplier<PolicySet> policies;

	private final ResolutionPlans plans = new ResolutionPlans();

	/** By name; names come from the configuration only, so there are few. */
	private final Map<String, Dimension> named = new ConcurrentHashMap<>();

	/** What was logged, of the same names. */
	private final Set<String> failed = ConcurrentHashMap.newKeySet();

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
		this.clientIp = new ClientIp(identity);
		this.identities = new IdentityResolver(identity, this.clientIp, new KnownKeys(identity.apiKeys(), verifier));
		this.region = Identity.text(region);
		this.dimensions = Map.copyOf(dimensions);
		this.policies = policies;
	}

	private RequestResolver(RequestResolver other, Supplier<PolicySet> policies) {
		this.clientIp = other.clientIp;
		this.identities = other.identities;
		this.region = other.region;
		this.dimensions = other.dimensions;
		this.policies = policies;
	}

	/**
	 * The same for other policies, whose lists need not be the same either.
	 */
	public RequestResolver over(Supplier<PolicySet> policies) {
		return new RequestResolver(this, policies);
	}

	/**
	 * Makes a request of a call, with all that is known about its caller. Custom
	 * dimensions are resolved only where the policy names them or the edge passes them.
	 *
	 * <p>
	 * What a caller may be able to make fail does not fail here. A resolver that throws
	 * leaves its dimension out, a path that throws costs the largest that fits, and a key
	 * that cannot be verified is an unverified one; the request says so. Other failures
	 * complete the stage with a {@link ResolutionException}, for the policy's failure
	 * mode to answer with {@link #requestFor(WebCall, String, Long)}. An invalid cost
	 * completes it with an {@link IllegalArgumentException} and must not be let pass, as
	 * a caller may have chosen it.
	 * @param call the call
	 * @param policy id of the policy that will decide
	 * @param cost beats the policy's patterns, which beat 1; {@code null} if the edge
	 * does not say, {@link #UNKNOWN_COST} if it cannot
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
		catch (Throwable ex) {
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
		boolean unknown = isUnknown(cost);
		long permits = (cost != null && !unknown) ? cost : 1;
		return new Request(policy, Map.of(), Set.of(), null, permits, permits)
			.withUnresolved(unresolved(Set.of(), unknown, Identity.NOBODY));
	}

	/**
	 * A request for a call that could not be resolved, with what is known even then: who
	 * calls from where, so that the deny-list and a floor per IP still hold, the route
	 * and the region.
	 * @throws IllegalArgumentException if the cost is none
	 */
	public Request requestFor(WebCall call, String policy, @Nullable Long cost) {
		Request unknown = requestFor(policy, cost);
		Map<Dimension, String> facts = new HashMap<>();
		Identity caller = Identity.NOBODY;
		String id = null;
		String traceId = null;
		try {
			caller = this.identities.claimed(call);
			put(facts, Dimension.ROUTE, call.route());
			id = RequestIds.of(call, this.clientIp.isTrustedPeer(call));
			traceId = call.traceId();
		}
		catch (RuntimeException ex) {
			// Then they are not known: this is for calls that cannot be understood.
		}
		put(facts, caller);
		putDeniedKey(facts, caller, call, policy, this.policies.get());
		put(facts, Dimension.REGION, this.region);
		return new Request(policy, facts, unverified(caller), caller.tier(), unknown.cost(), unknown.atLeast(), id,
				traceId, unresolved(Set.of(), isUnknown(cost), caller));
	}

	/**
	 * A request for a call that cannot wait until its API key is verified: all that is
	 * known without, and that the key is not.
	 * @throws IllegalArgumentException if the cost is none
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
	 * cannot be asked.
	 */
	public boolean denies(Request request) {
		return this.policies.get().denies(request);
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
		catch (Throwable ex) {
			// Whatever it is: somebody waits for the request.
			request.completeExceptionally(notResolved("the call", policy, ex));
		}
	}

	private Request request(WebCall call, String policy, @Nullable Long cost, Map<String, DimensionResolver> extra,
			Identity caller) {
		PolicySet policies = this.policies.get();
		ResolutionPlans.Plan plan = this.plans.find(policies, policy);
		Map<Dimension, String> facts = new HashMap<>();
		put(facts, caller);
		putDeniedKey(facts, caller, call, policy, policies);
		put(facts, Dimension.ROUTE, call.route());
		put(facts, Dimension.REGION, this.region);
		Custom custom = Custom.NONE;
		for (Dimension dimension : (plan != null) ? plan.custom() : List.<Dimension>of()) {
			DimensionResolver resolver = this.dimensions.get(dimension.name());
			if (resolver != null && !extra.containsKey(dimension.name())) {
				custom = resolve(custom, caller, dimension, resolver, call, facts);
			}
		}
		if (!extra.isEmpty()) {
			for (Map.Entry<String, DimensionResolver> entry : extra.entrySet()) {
				custom = resolve(custom, caller, named(entry.getKey()), entry.getValue(), call, facts);
			}
		}
		Set<Dimension> unverified = (custom != Custom.NONE) ? custom.unverified() : unverified(caller);
		long permits = (cost != null) ? cost
				: (plan != null) ? cost(plan, policies, call, policy, facts, unverified, caller) : 1;
		boolean unknown = permits == UNKNOWN_COST;
		permits = unknown ? 1 : permits;
		return new Request(policy, facts, unverified, caller.tier(), permits, permits,
				RequestIds.of(call, this.clientIp.isTrustedPeer(call)), call.traceId(),
				unresolved(custom.failed(), unknown, caller));
	}

	/** By the path, which a caller chooses. */
	private long cost(ResolutionPlans.Plan plan, PolicySet policies, WebCall call, String policy,
			Map<Dimension, String> facts, Set<Dimension> unverified, Identity caller) {
		try {
			return plan.cost(call.rawPath(),
					() -> policies.match(new Request(policy, facts, unverified, caller.tier(), 1, 1)));
		}
		catch (RuntimeException | StackOverflowError ex) {
			warnOnce("costs", "The cost of a path could not be found out ({}); such requests are charged the largest "
					+ "cost that fits", ex.getClass().getName());
			return UNKNOWN_COST;
		}
	}

	private Custom resolve(Custom custom, Identity caller, Dimension dimension, DimensionResolver resolver,
			WebCall call, Map<Dimension, String> facts) {
		Custom result = (custom != Custom.NONE) ? custom
				: new Custom(new HashSet<>(unverified(caller)), new HashSet<>());
		try {
			put(facts, dimension, resolver.resolve(call));
			if (!resolver.verified()) {
				result.unverified().add(dimension);
			}
		}
		catch (Throwable ex) {
			facts.remove(dimension);
			result.failed().add(dimension);
			warnOnce(dimension.name(),
					"The resolver of dimension '" + dimension
							+ "' failed with {}; such requests count as requests without this dimension",
					ex.getClass().getName());
		}
		return result;
	}

	/** Once per name: callers may be able to bring it about. */
	private void warnOnce(String name, String message, String failure) {
		if (this.failed.add(name)) {
			logger.warn(message, failure);
		}
	}

	private static Set<Dimension> unverified(Identity caller) {
		boolean claimedKey = caller.apiKey() != null && !caller.apiKeyVerified();
		if (caller.ipVerified()) {
			return claimedKey ? KEY_ONLY : Set.of();
		}
		return claimedKey ? IP_AND_KEY : IP_ONLY;
	}

	private static Request.Unresolved unresolved(Set<Dimension> dimensions, boolean cost, Identity caller) {
		if (dimensions.isEmpty() && !cost && caller.failed() == Identity.Failed.NOTHING) {
			return Request.Unresolved.NOTHING;
		}
		Set<Dimension> all = new HashSet<>(dimensions);
		if (caller.failed().principal()) {
			all.add(Dimension.USER);
			all.add(Dimension.TENANT);
		}
		return new Request.Unresolved(all, cost, caller.failed().apiKey());
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

	/**
	 * A caller that presents two different keys has none, but whoever is behind us may
	 * take either: one that is denied still is.
	 */
	private void putDeniedKey(Map<Dimension, String> facts, Identity caller, WebCall call, String policy,
			PolicySet policies) {
		if (caller.apiKey() != null) {
			return;
		}
		for (String key : this.identities.presentedKeys(call)) {
			Request presented = new Request(policy, Map.of(Dimension.API_KEY, key), KEY_ONLY, null, 1, 1);
			if (policies.denies(presented)) {
				facts.put(Dimension.API_KEY, key);
				return;
			}
		}
	}

	private static void put(Map<Dimension, String> facts, Identity caller) {
		put(facts, Dimension.USER, caller.user());
		put(facts, Dimension.TENANT, caller.tenant());
		put(facts, Dimension.IP, caller.ip());
		put(facts, Dimension.API_KEY, caller.apiKey());
	}

	private static void put(Map<Dimension, String> facts, Dimension dimension, @Nullable String value) {
		if (value != null && !value.isBlank()) {
			facts.put(dimension, value);
		}
	}

	private static boolean isCost(@Nullable Long cost) {
		return cost == null || isUnknown(cost) || (cost >= 0 && cost <= Quota.MAX_PERMITS);
	}

	private static boolean isUnknown(@Nullable Long cost) {
		return cost != null && cost == UNKNOWN_COST;
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

	/**
	 * What custom dimensions say about themselves.
	 *
	 * @param unverified those that callers choose, and what else is unverified
	 * @param failed those whose resolver threw
	 */
	private record Custom(Set<Dimension> unverified, Set<Dimension> failed) {

		static final Custom NONE = new Custom(Set.of(), Set.of());

	}

}
