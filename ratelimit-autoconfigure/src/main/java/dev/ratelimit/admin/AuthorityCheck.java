package dev.ratelimit.admin;

import java.security.Principal;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;

/**
 * Requires authorities of Spring Security. Loaded only where it is present.
 */
public final class AuthorityCheck implements AdminCheck {

	private final String authority;

	public AuthorityCheck(String authority) {
		this.authority = authority;
	}

	@Override
	public boolean mayWrite(@Nullable Principal principal) {
		return has(principal, this.authority);
	}

	@Override
	public boolean mayRead(@Nullable Principal principal) {
		return has(principal, VIEWER) || mayWrite(principal);
	}

	private static boolean has(@Nullable Principal principal, String wanted) {
		return principal instanceof Authentication authentication && authentication.isAuthenticated()
				&& authentication.getAuthorities()
					.stream()
					.anyMatch((authority) -> wanted.equals(authority.getAuthority()));
	}

}
