package dev.ratelimit.web;

import java.security.Principal;

import org.jspecify.annotations.Nullable;

/**
 * The tenant that a verified token names.
 *
 * @param tenant id of the tenant
 * @param tier plan that the token names
 */
public record VerifiedTenant(String tenant, @Nullable String tier) {

	/**
	 * The tenant of a principal, {@code null} if no token names one.
	 */
	public static @Nullable VerifiedTenant of(@Nullable Principal principal, IdentityOptions options) {
		Identity identity = IdentityResolver.identity(principal, options);
		return (identity.tenant() != null) ? new VerifiedTenant(identity.tenant(), identity.tier()) : null;
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "VerifiedTenant[]";
	}

}
