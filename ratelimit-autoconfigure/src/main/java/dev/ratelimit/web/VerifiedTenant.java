package dev.ratelimit.web;

import java.net.InetAddress;
import java.security.Principal;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The tenant that a verified token or a {@link CallerResolver} names.
 *
 * @param tenant id of the tenant
 * @param tier its plan
 * @param roles authorities that the resolver names, in addition to the principal's
 */
public record VerifiedTenant(String tenant, @Nullable String tier, Set<String> roles) {

	/**
	 * The tenant of a principal, {@code null} if nothing names one.
	 * @param beans resolvers of the application, which know nothing but the principal
	 * here
	 */
	public static @Nullable VerifiedTenant of(@Nullable Principal principal, IdentityOptions options,
			List<CallerResolver> beans) {
		CallerResolver.Caller caller = IdentityResolver.caller(new PrincipalCall(principal),
				IdentityResolver.callers(beans, options));
		Identity identity = (caller != null) ? Identity.of(caller) : IdentityResolver.identity(principal, options);
		return (identity.tenant() != null)
				? new VerifiedTenant(identity.tenant(), identity.tier(), (caller != null) ? caller.roles() : Set.of())
				: null;
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "VerifiedTenant[]";
	}

	/** A call of which the principal alone is known. */
	private record PrincipalCall(@Nullable Principal principal) implements WebCall {

		@Override
		public String rawPath() {
			return "";
		}

		@Override
		public @Nullable String route() {
			return null;
		}

		@Override
		public List<String> headers(String name) {
			return List.of();
		}

		@Override
		public @Nullable InetAddress remoteAddress() {
			return null;
		}

	}

}
