package dev.ratelimit.admin;

import java.security.Principal;

import org.jspecify.annotations.Nullable;

/**
 * Decides who may read and who may change limits. The operations check it themselves,
 * because the application's own protection of paths may leave a gap.
 */
@FunctionalInterface
public interface AdminCheck {

	/** Role {@code RATELIMIT_ADMIN} in Spring Security. */
	String AUTHORITY = "ROLE_RATELIMIT_ADMIN";

	/** Role {@code RATELIMIT_VIEWER} in Spring Security. */
	String VIEWER = "ROLE_RATELIMIT_VIEWER";

	/**
	 * Without Spring Security, callers are unknown: everybody who reaches it may write.
	 */
	AdminCheck ANYBODY = (principal) -> true;

	boolean mayWrite(@Nullable Principal principal);

	/**
	 * Whether a caller may read. A caller that may write may also read.
	 */
	default boolean mayRead(@Nullable Principal principal) {
		return mayWrite(principal);
	}

}
