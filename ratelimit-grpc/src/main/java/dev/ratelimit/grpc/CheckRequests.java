package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.background.Futures;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.web.RequestResolver;

/**
 * Makes requests of messages. Facts that a trusted peer states are verified. From other
 * peers, the token and the socket's address identify the caller as over HTTP, and the
 * message adds only facts that HTTP callers choose too. Any other fact, even unverified,
 * would select the counter of a caller for whom it is verified.
 */
final class CheckRequests {

	private static final int MOST_DIMENSIONS = 16;

	private static final Pattern ID = Pattern.compile("[A-Za-z0-9_=-]{1,64}");

	/**
	 * The dimension of {@code key} in an annotation, which the application's code gives.
	 */
	private static final String KEY = "key";

	private final RequestResolver resolver;

	private final CallerTokens tokens;

	private final String apiKeyHeader;

	private final Set<String> chosen;

	/**
	 * Creates it.
	 * @param chosen names of the custom dimensions whose values callers choose
	 */
	CheckRequests(RequestResolver resolver, CallerTokens tokens, String apiKeyHeader, Set<String> chosen) {
		this.resolver = resolver;
		this.tokens = tokens;
		this.apiKeyHeader = apiKeyHeader;
		this.chosen = Set.copyOf(chosen);
	}

	/**
	 * The principal of a call, from its token. Fails with a {@link StatusException}.
	 */
	CompletableFuture<@Nullable Principal> principal(CurrentCall call) {
		return this.tokens.principal(call.metadata());
	}

	/**
	 * Makes a request of a message. Fails with a {@link StatusException} if a field or
	 * the token is invalid.
	 * @param path path of the called method
	 * @param principal from {@link #principal}
	 */
	CompletableFuture<Resolved> resolve(String path, CheckRequest message, CurrentCall call,
			CompletableFuture<@Nullable Principal> principal) {
		boolean trusted = call.peer().trusted();
		Map<Dimension, String> stated;
		try {
			stated = stated(message, trusted);
		}
		catch (StatusException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		if (principal.isDone() && !principal.isCompletedExceptionally()) {
			return resolve(path, message, call, stated, principal.join());
		}
		return principal.thenCompose((known) -> resolve(path, message, call, stated, known));
	}

	private CompletableFuture<Resolved> resolve(String path, CheckRequest message, CurrentCall call,
			Map<Dimension, String> stated, @Nullable Principal principal) {
		boolean trusted = call.peer().trusted();
		// The token and key of a peer that speaks for somebody else say nothing about
		// them.
		boolean speaksForOthers = trusted && (stated.containsKey(Dimension.TENANT) || stated.containsKey(Dimension.USER)
				|| stated.containsKey(Dimension.API_KEY));
		String key = stated.get(Dimension.API_KEY);
		List<String> keys = !speaksForOthers ? null : (key != null) ? List.of(key) : List.of();
		MessageCall resolved = new MessageCall(path, null, call.metadata(), call.peer(),
				speaksForOthers ? null : principal, keys, this.apiKeyHeader);
		Long cost = message.hasCost() ? message.getCost() : null;
		UnaryOperator<Request> facts = (request) -> trusted ? believed(request, stated, message.getRequestId())
				: claimed(request, stated);
		return this.resolver.resolve(resolved, message.getPolicy(), cost, Map.of())
			.handle((request, failure) -> (failure == null) ? new Resolved(facts.apply(request), null)
					: new Resolved(facts.apply(this.resolver.requestFor(resolved, message.getPolicy(), cost, Map.of())),
							Futures.cause(failure)));
	}

	/** The facts in a message, without those that its peer may not state. */
	private Map<Dimension, String> stated(CheckRequest message, boolean trusted) throws StatusException {
		if (message.getPolicy().isEmpty()) {
			throw Statuses.invalid("policy", "must be the id of a policy");
		}
		if (message.getCost() < 0 || message.getCost() > Quota.MAX_PERMITS) {
			throw Statuses.invalid("cost", "must be 0 to " + Quota.MAX_PERMITS);
		}
		if (message.getDimensionsCount() > MOST_DIMENSIONS) {
			throw Statuses.invalid("dimensions", "must be at most " + MOST_DIMENSIONS);
		}
		if (trusted && !message.getRequestId().isEmpty() && !ID.matcher(message.getRequestId()).matches()) {
			throw Statuses.invalid("request_id",
					"must be 1 to 64 letters, digits, dashes, underscores and equal signs");
		}
		Map<Dimension, String> stated = new HashMap<>();
		for (Map.Entry<String, String> entry : message.getDimensionsMap().entrySet()) {
			Dimension dimension = dimension(entry.getKey());
			if (!entry.getValue().isBlank() && (trusted || isChosen(dimension))) {
				stated.put(dimension, dimension.equals(Dimension.IP) ? address(entry.getValue()) : entry.getValue());
			}
		}
		return stated;
	}

	/** Whether an HTTP caller chooses the value too. */
	private boolean isChosen(Dimension dimension) {
		return dimension.equals(Dimension.ROUTE)
				|| (this.chosen.contains(dimension.name()) && !dimension.name().equals(KEY));
	}

	private static Dimension dimension(String name) throws StatusException {
		Dimension dimension;
		try {
			dimension = new Dimension(name);
		}
		catch (IllegalArgumentException ex) {
			throw Statuses.invalid("dimensions",
					"a name is 1 to 32 lower-case letters, digits and dashes and starts with a letter");
		}
		if (dimension.equals(Dimension.REGION)) {
			throw Statuses.invalid("dimensions", "the region is the one of the instance that decides");
		}
		return dimension;
	}

	private static String address(String text) throws StatusException {
		IpAddress address = IpAddress.parse(text);
		if (address == null) {
			throw Statuses.invalid("dimensions", "the value of ip is not an IP address");
		}
		return address.toString();
	}

	/**
	 * A request with the facts of a trusted peer. The address of its socket is not the
	 * caller's, and the tier of an API key holds only for the key's own tenant.
	 */
	private static Request believed(Request request, Map<Dimension, String> stated, String id) {
		Map<Dimension, String> dimensions = new HashMap<>(request.dimensions());
		String keyTenant = dimensions.get(Dimension.TENANT);
		String tenant = stated.getOrDefault(Dimension.TENANT, keyTenant);
		String tier = (keyTenant != null && !keyTenant.equals(tenant)) ? null : request.tier();
		dimensions.remove(Dimension.IP);
		dimensions.putAll(stated);
		Set<Dimension> unverified = new HashSet<>(request.unverified());
		stated.keySet()
			.stream()
			.filter((dimension) -> !dimension.equals(Dimension.API_KEY))
			.forEach(unverified::remove);
		return new Request(request.policy(), dimensions, unverified, tier, request.cost(), request.atLeast(),
				id.isEmpty() ? request.id() : id, request.traceId(), request.unresolved())
			.withIdempotencyKey(id.isEmpty() ? null : id);
	}

	/** A request with unverified facts, where the resolver has found none. */
	private static Request claimed(Request request, Map<Dimension, String> stated) {
		Request claimed = request;
		for (Map.Entry<Dimension, String> fact : stated.entrySet()) {
			if (!claimed.dimensions().containsKey(fact.getKey())) {
				claimed = claimed.withUnverified(fact.getKey(), fact.getValue());
			}
		}
		return claimed;
	}

	/**
	 * A request, which is decided by the failure mode of its policy if it could not be
	 * resolved.
	 *
	 * @param failure why facts are missing, {@code null} if none are
	 */
	record Resolved(Request request, @Nullable Throwable failure) {

		Resolved with(UnaryOperator<Request> change) {
			return new Resolved(change.apply(this.request), this.failure);
		}

	}

}
