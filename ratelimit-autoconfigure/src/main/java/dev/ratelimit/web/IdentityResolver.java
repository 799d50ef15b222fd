package dev.ratelimit.web;

import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.Set;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

import dev.ratelimit.background.FailureLog;

/**
 * Identifies callers from verified facts only: the principal and known API keys. No
 * header ever names a user, a tenant or a tier.
 */
final class IdentityResolver {

	private static final Logger logger = LoggerFactory.getLogger(IdentityResolver.class);

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.core.Authentication",
			IdentityResolver.class.getClassLoader());

	private final IdentityOptions options;

	private final ClientIp clientIp;

	private final KnownKeys keys;

	private final KeyTiers tiers;

	private final List<CallerResolver> callers;

	private final boolean addressOnly;

	private final FailureLog failures = FailureLog.once(logger,
			"The principal of a call or a CallerResolver failed with {}; such callers count as unknown");

	/**
	 * Creates a resolver.
	 * @param callers identify callers without a token, in this order
	 */
	IdentityResolver(IdentityOptions options, ClientIp clientIp, KnownKeys keys, List<CallerResolver> callers) {
		this(options, clientIp, keys, callers(callers, options), false);
	}

	private IdentityResolver(IdentityOptions options, ClientIp clientIp, KnownKeys keys, List<CallerResolver> callers,
			boolean addressOnly) {
		this.options = options;
		this.clientIp = clientIp;
		this.keys = keys;
		this.tiers = new KeyTiers(options.apiKeyTiers());
		this.callers = List.copyOf(callers);
		this.addressOnly = addressOnly;
	}

	/**
	 * The same resolver for calls that are not authenticated yet: it knows their address
	 * and asks nobody about their keys.
	 */
	IdentityResolver addressOnly() {
		return new IdentityResolver(this.options, this.clientIp, this.keys, this.callers, true);
	}

	/**
	 * Identifies the caller. Never fails: the identity says which facts are unknown.
	 */
	CompletableFuture<Identity> resolve(WebCall call) {
		Identity caller = caller(call);
		String key = apiKey(call);
		if (key == null) {
			return CompletableFuture.completedFuture(caller);
		}
		CompletableFuture<KnownKeys.Answer> answer = this.keys.find(key);
		boolean claimed = key.equals(claimedKey(call));
		return answer.isDone() ? CompletableFuture.completedFuture(with(caller, key, claimed, answer.join()))
				: answer.thenApply((known) -> with(caller, key, claimed, known));
	}

	/** The issuer of a token vouches for the key in it. */
	private Identity with(Identity caller, String key, boolean claimed, KnownKeys.Answer answer) {
		if (answer.failed()) {
			return caller.withFailedKey(key);
		}
		ApiKeyVerifier.VerifiedKey known = answer.key();
		if (known == null && claimed) {
			known = new ApiKeyVerifier.VerifiedKey(null, null);
		}
		return caller.withKey(key, this.tiers.complete(key, known));
	}

	/**
	 * Identifies the caller without verifying an API key.
	 */
	Identity claimed(WebCall call) {
		Identity caller = caller(call);
		String key = apiKey(call);
		return (key != null) ? caller.withFailedKey(key) : caller;
	}

	private Identity caller(WebCall call) {
		Identity caller;
		try {
			caller = this.addressOnly ? Identity.NOBODY : identified(call);
		}
		catch (Throwable ex) {
			this.failures.failed(ex.getClass().getName());
			caller = Identity.FAILED;
		}
		return this.clientIp.locate(caller, call);
	}

	private Identity identified(WebCall call) {
		CallerResolver.Caller caller = caller(call, this.callers);
		return (caller != null) ? Identity.of(caller) : identity(call.principal(), this.options);
	}

	/**
	 * The first answer about a call, {@code null} if nobody knows its caller or it comes
	 * with a token.
	 */
	static CallerResolver.@Nullable Caller caller(WebCall call, List<CallerResolver> resolvers) {
		if (resolvers.isEmpty() || (SECURITY && SecurityPrincipals.hasToken(call.principal()))) {
			return null;
		}
		for (CallerResolver resolver : resolvers) {
			CallerResolver.Caller caller = resolver.resolve(call);
			if (caller != null) {
				return caller;
			}
		}
		return null;
	}

	/**
	 * Beans of the application first, then the configured resolvers.
	 */
	static List<CallerResolver> callers(List<CallerResolver> beans, IdentityOptions options) {
		if (options.resolvers().isEmpty()) {
			return beans;
		}
		List<CallerResolver> callers = new ArrayList<>(beans);
		options.resolvers().forEach((source) -> callers.add(SecurityCallers.of(source, options)));
		return callers;
	}

	/**
	 * The caller that a principal stands for.
	 */
	static Identity identity(@Nullable Principal principal, IdentityOptions options) {
		if (principal == null) {
			return Identity.NOBODY;
		}
		return SECURITY ? SecurityPrincipals.identity(principal, options) : Identity.ofUser(principal.getName());
	}

	/**
	 * The different keys of a call whose identity has none of them, because it presents
	 * several or is not authenticated; usually empty.
	 */
	Set<String> presentedKeys(WebCall call) {
		List<String> values = keys(call);
		return (values.size() < (this.addressOnly ? 1 : 2)) ? Set.of()
				: values.stream().map(Identity::text).filter(Objects::nonNull).collect(Collectors.toSet());
	}

	/** All keys that a call presents, wherever they are. */
	private List<String> keys(WebCall call) {
		String header = this.options.apiKeyHeader();
		List<String> values = header.isEmpty() ? List.of() : call.headers(header);
		String query = this.options.apiKeyQuery();
		String claimed = claimedKey(call);
		if (query.isEmpty() && claimed == null) {
			return values;
		}
		List<String> all = new ArrayList<>(values);
		if (!query.isEmpty()) {
			all.addAll(call.query(query));
		}
		if (claimed != null) {
			all.add(claimed);
		}
		return all;
	}

	private @Nullable String claimedKey(WebCall call) {
		String claim = this.options.apiKeyClaim();
		if (claim.isEmpty() || !SECURITY || this.addressOnly) {
			return null;
		}
		try {
			return Identity
				.text(SecurityPrincipals.claims(call.principal(), this.options.resolvers().contains(CallerSource.OIDC))
					.get(claim));
		}
		catch (RuntimeException ex) {
			// The identity says that the principal failed.
			return null;
		}
	}

	private @Nullable String apiKey(WebCall call) {
		if (this.addressOnly) {
			return null;
		}
		List<String> values = keys(call);
		String key = values.isEmpty() ? null : Identity.text(values.get(0));
		// Of two different keys, the upstream may take the other one.
		for (int i = 1; i < values.size() && key != null; i++) {
			key = key.equals(values.get(i)) ? key : null;
		}
		return key;
	}

}
