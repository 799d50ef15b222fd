package dev.ratelimit.web;

import java.security.Principal;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;

/**
 * Ready-made resolvers for callers that Spring Security has authenticated without a
 * token. Loaded only where it is present, the nested class only with OAuth 2.
 */
final class SecurityCallers {

	private SecurityCallers() {
	}

	/**
	 * The resolver of a source.
	 * @param options has the names of claims
	 */
	static CallerResolver of(CallerSource source, IdentityOptions options) {
		return switch (source) {
			case OIDC -> resolver((authentication) -> Oidc.caller(authentication, options));
			case USER_DETAILS -> resolver(SecurityCallers::user);
			case X509 -> resolver(SecurityCallers::certified);
		};
	}

	/**
	 * The claims of a user after an OIDC login, empty for any other caller.
	 */
	static Map<String, Object> loginClaims(@Nullable Principal principal) {
		Map<String, Object> claims = (principal instanceof Authentication authentication
				&& authentication.isAuthenticated()) ? Oidc.claims(authentication) : null;
		return (claims != null) ? claims : Map.of();
	}

	private static CallerResolver resolver(Function<Authentication, CallerResolver.@Nullable Caller> callers) {
		return (call) -> {
			Principal principal = call.principal();
			return (principal instanceof Authentication authentication && authentication.isAuthenticated())
					? callers.apply(authentication) : null;
		};
	}

	private static CallerResolver.@Nullable Caller user(Authentication authentication) {
		return (authentication.getPrincipal() instanceof UserDetails user)
				? new CallerResolver.Caller(null, user.getUsername(), null, roles(authentication)) : null;
	}

	/** The server has checked the certificate, and Spring Security found its user. */
	private static CallerResolver.@Nullable Caller certified(Authentication authentication) {
		return (authentication.getCredentials() instanceof X509Certificate certificate) ? new CallerResolver.Caller(
				organization(certificate), authentication.getName(), null, roles(authentication)) : null;
	}

	/** {@code null} if the subject has none, or several. */
	static @Nullable String organization(X509Certificate certificate) {
		try {
			List<Object> organizations = new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()
				.stream()
				.filter((part) -> part.getType().equalsIgnoreCase("O"))
				.map(Rdn::getValue)
				.toList();
			return (organizations.size() == 1) ? Identity.text(organizations.get(0)) : null;
		}
		catch (InvalidNameException ex) {
			return null;
		}
	}

	private static Set<String> roles(Authentication authentication) {
		return authentication.getAuthorities()
			.stream()
			.map(GrantedAuthority::getAuthority)
			.filter((authority) -> authority != null)
			.collect(Collectors.toSet());
	}

	/** Loaded only where there is OAuth 2. */
	private static final class Oidc {

		static CallerResolver.@Nullable Caller caller(Authentication authentication, IdentityOptions options) {
			Map<String, Object> claims = claims(authentication);
			return (claims == null) ? null
					: new CallerResolver.Caller(Identity.text(claims.get(options.tenantClaim())),
							Identity.text(claims.get(options.userClaim())),
							Identity.text(claims.get(options.tierClaim())), roles(authentication));
		}

		static @Nullable Map<String, Object> claims(Authentication authentication) {
			return (authentication.getPrincipal() instanceof OidcUser user) ? user.getClaims() : null;
		}

	}

}
