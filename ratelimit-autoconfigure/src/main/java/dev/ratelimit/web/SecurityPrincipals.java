package dev.ratelimit.web;

import java.security.Principal;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.server.resource.authentication.AbstractOAuth2TokenAuthenticationToken;
import org.springframework.util.ClassUtils;

/**
 * Identities that Spring Security verified. Loaded only where it is present; the nested
 * class only where its resource server is too.
 */
final class SecurityPrincipals {

	private static final boolean TOKENS_PRESENT = ClassUtils.isPresent(
			"org.springframework.security.oauth2.server.resource.authentication.AbstractOAuth2TokenAuthenticationToken",
			SecurityPrincipals.class.getClassLoader());

	private SecurityPrincipals() {
	}

	static Identity identity(Principal principal, IdentityOptions options) {
		if (!(principal instanceof Authentication authentication)) {
			return Identity.ofUser(principal.getName());
		}
		if (!authentication.isAuthenticated() || authentication instanceof AnonymousAuthenticationToken) {
			return Identity.NOBODY;
		}
		Map<String, Object> claims = TOKENS_PRESENT ? Tokens.claims(authentication) : null;
		if (claims == null) {
			return Identity.ofUser(authentication.getName());
		}
		return Identity.ofClaims(claims.get(options.tenantClaim()), claims.get(options.userClaim()),
				claims.get(options.tierClaim()));
	}

	/**
	 * The claims of a verified token, empty if there is none.
	 */
	static Map<String, Object> claims(@Nullable Principal principal) {
		Map<String, Object> claims = (TOKENS_PRESENT && principal instanceof Authentication authentication
				&& authentication.isAuthenticated()) ? Tokens.claims(authentication) : null;
		return (claims != null) ? claims : Map.of();
	}

	/**
	 * The claims of a verified token, else of an OIDC login.
	 * @param logins whether the claims of logins count, which needs OAuth 2
	 */
	static Map<String, Object> claims(@Nullable Principal principal, boolean logins) {
		Map<String, Object> claims = claims(principal);
		return (claims.isEmpty() && logins) ? SecurityCallers.loginClaims(principal) : claims;
	}

	/**
	 * Whether a principal comes with a verified token.
	 */
	static boolean hasToken(@Nullable Principal principal) {
		return !claims(principal).isEmpty();
	}

	/**
	 * JWTs and opaque tokens.
	 */
	private static final class Tokens {

		static @Nullable Map<String, Object> claims(Authentication authentication) {
			return (authentication instanceof AbstractOAuth2TokenAuthenticationToken<?> token)
					? token.getTokenAttributes() : null;
		}

	}

}
