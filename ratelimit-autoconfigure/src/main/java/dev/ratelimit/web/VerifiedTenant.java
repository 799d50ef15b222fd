package dev.ratelimit.web;

import java.security.Principal;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The tenant that a verified token speaks for.
 *
 * @param tenant its name
 * @param tier plan that the token names
 */
public record VerifiedTenant(String tenant, @Nullable String tier) {

	private static final boolean SECURITY_PRESENT = ClassUtils
		.isPresent("org.springframework.security.core.Authentication", VerifiedTenant.class.getClassLoader());

	/**
	 * The tenant of who was authenticated, {@code null} if no token names one.
	 */
	public static @Nullable VerifiedTenant of(@Nullable Principal principal, IdentityOptions options) {
		if (principal == null || !SECURITY_PRESENT) {
			return null;
		}
		Identity identity = SecurityPrincipals.identity(principal, options);
		return (identity.tenant() != null) ? new VerifiedTenant(identity.tenant(), identity.tier()) : null;
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "VerifiedTenant[]";
	}

}
