package dev.ratelimit.web;

import java.security.Principal;
import java.util.List;
import java.util.stream.Collectors;
import java.util.Set;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds out who calls, from verified facts only: who was authenticated, and API keys that
 * somebody knows. No header ever names a user, a tenant or a tier.
 */
final class IdentityResolver {

	private static final Logger logger = LoggerFactory.getLogger(IdentityResolver.class);

	private static final boolean SECURITY_PRESENT = ClassUtils
		.isPresent("org.springframework.security.core.Authentication", IdentityResolver.class.getClassLoader());

	private final IdentityOptions options;

	private final ClientIp clientIp;

	private final KnownKeys keys;

	private final AtomicBoolean principalFailed = new AtomicBoolean();

	IdentityResolver(IdentityOptions options, ClientIp clientIp, KnownKeys keys) {
		this.options = options;
		this.clientIp = clientIp;
		this.keys = keys;
	}

	/**
	 * Finds out who calls. Never fails: what cannot be found out is not known, and the
	 * identity says so.
	 */
	CompletableFuture<Identity> resolve(WebCall call) {
		Identity caller = caller(call);
		String key = apiKey(call);
		if (key == null) {
			return CompletableFuture.completedFuture(caller);
		}
		return this.keys.find(key)
			.handle((verified, failure) -> (failure == null) ? caller.withKey(key, verified)
					: caller.withFailedKey(key));
	}

	/**
	 * The same without asking anybody about an API key.
	 */
	Identity claimed(WebCall call) {
		Identity caller = caller(call);
		String key = apiKey(call);
		return (key != null) ? caller.withFailedKey(key) : caller;
	}

	private Identity caller(WebCall call) {
		Identity caller;
		try {
			caller = principal(call.principal());
		}
		catch (Throwable ex) {
			if (this.principalFailed.compareAndSet(false, true)) {
				logger.warn("The principal of a call failed with {}; callers that this happens to count as unknown",
						ex.getClass().getName());
			}
			caller = Identity.UNTOLD;
		}
		return this.clientIp.locate(caller, call);
	}

	private Identity principal(@Nullable Principal principal) {
		if (principal == null) {
			return Identity.NOBODY;
		}
		return SECURITY_PRESENT ? SecurityPrincipals.identity(principal, this.options)
				: Identity.ofUser(principal.getName());
	}

	/**
	 * The different keys of a call that has several, none as a rule.
	 */
	Set<String> presentedKeys(WebCall call) {
		List<String> values = this.options.apiKeyHeader().isEmpty() ? List.of()
				: call.headers(this.options.apiKeyHeader());
		return (values.size() < 2) ? Set.of()
				: values.stream().map(Identity::text).filter(Objects::nonNull).collect(Collectors.toSet());
	}

	private @Nullable String apiKey(WebCall call) {
		if (this.options.apiKeyHeader().isEmpty()) {
			return null;
		}
		List<String> values = call.headers(this.options.apiKeyHeader());
		String key = values.isEmpty() ? null : Identity.text(values.get(0));
		// Of two different keys, whoever is behind us may take the other one.
		for (int i = 1; i < values.size() && key != null; i++) {
			key = key.equals(values.get(i)) ? key : null;
		}
		return key;
	}

}
