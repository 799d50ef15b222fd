package dev.ratelimit.web;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Identifies callers that present no JWT and no opaque token: after an OIDC login, by
 * Basic authentication, a client certificate or a token of the application's own. Beans
 * of this type are asked in their order, and the first answer wins. It must not block,
 * and must take its facts from what has been verified only: they select tiers, overrides
 * and allow entries. If it throws, the caller is unknown.
 */
@FunctionalInterface
public interface CallerResolver {

	/**
	 * The caller, {@code null} if this resolver does not know it; the next one is asked
	 * then.
	 */
	@Nullable Caller resolve(WebCall call);

	/**
	 * A caller.
	 *
	 * @param tenant {@code null} if it has none
	 * @param user {@code null} if it is no user
	 * @param tier plan, {@code null} for the default
	 * @param roles authorities such as {@code ROLE_RATELIMIT_TENANT_ADMIN}, which
	 * self-service asks for in addition to those of the principal
	 */
	record Caller(@Nullable String tenant, @Nullable String user, @Nullable String tier, Set<String> roles) {

		public Caller {
			roles = Set.copyOf(roles);
		}

		/**
		 * A caller whose roles are those of the principal.
		 */
		public Caller(@Nullable String tenant, @Nullable String user, @Nullable String tier) {
			this(tenant, user, tier, Set.of());
		}

		/** Without the values: they may be personal data. */
		@Override
		public String toString() {
			return "Caller";
		}

	}

}
