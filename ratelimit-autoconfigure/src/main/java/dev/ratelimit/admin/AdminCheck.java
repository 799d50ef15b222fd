package dev.ratelimit.admin;

import java.security.Principal;

import org.jspecify.annotations.Nullable;

/**
 * Whether somebody may look or change something. Asked by the endpoint itself, because an
 * application may protect its paths in a way that leaves a gap.
 */
@FunctionalInterface
public interface AdminCheck {

	/** Role {@code RATELIMIT_ADMIN} in Spring Security. */
	String AUTHORITY = "ROLE_RATELIMIT_ADMIN";

	/** Role {@code RATELIMIT_VIEWER} in Spring Security. */
	String VIEWER = "ROLE_RATELIMIT_VIEWER";

	/** Where there is nothing that could tell who calls, who may reach it may write. */
	AdminCheck ANYBODY = (principal) -> true;

	boolean mayWrite(@Nullable Principal principal);

	/**
	 * Whether somebody may look; who may write may.
	 */
	default boolean mayRead(@Nullable Principal principal) {
		return mayWrite(principal);
	}

}
