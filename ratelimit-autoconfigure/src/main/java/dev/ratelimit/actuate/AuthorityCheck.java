package dev.ratelimit.actuate;

import java.security.Principal;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;

/**
 * Demands the authority from Spring Security. Loaded only where it is present.
 */
public final class AuthorityCheck implements AdminCheck {

	@Override
	public boolean mayWrite(@Nullable Principal principal) {
		return principal instanceof Authentication authentication && authentication.isAuthenticated()
				&& authentication.getAuthorities()
					.stream()
					.anyMatch((authority) -> AUTHORITY.equals(authority.getAuthority()));
	}

}
