package dev.ratelimit.web;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * A dimension of {@code ratelimit.dimensions}: one fact of a call, found without code.
 * Only a claim of a verified token or login is a verified fact. A fact that a call has
 * more than once is missing, as an upstream may take another of its values.
 *
 * @param source where the fact is found
 * @param name name of the claim, header, parameter or cookie; empty for the others
 * @param logins whether claims of OIDC logins count too
 */
public record DeclaredDimension(Source source, String name, boolean logins) implements DimensionResolver {

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.core.Authentication",
			DeclaredDimension.class.getClassLoader());

	private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
			"TRACE");

	/** Longest number: an exponent could make a text of any length. */
	private static final int LONGEST_NUMBER = 64;

	/**
	 * A fact whose claims are those of tokens only.
	 */
	public DeclaredDimension(Source source, String name) {
		this(source, name, false);
	}

	/**
	 * The same fact where OIDC logins identify callers.
	 */
	DeclaredDimension withLogins() {
		return new DeclaredDimension(this.source, this.name, true);
	}

	@Override
	public @Nullable String resolve(WebCall call) {
		return switch (this.source) {
			case CLAIM -> SECURITY ? text(find(SecurityPrincipals.claims(call.principal(), this.logins))) : null;
			case HEADER -> only(call.headers(this.name));
			case QUERY -> only(call.query(this.name));
			case COOKIE -> only(call.cookies(this.name));
			case HOST -> host(call.host());
			case METHOD -> METHODS.contains(call.method()) ? call.method() : "other";
		};
	}

	@Override
	public boolean verified() {
		return this.source == Source.CLAIM;
	}

	/**
	 * Whether the fact is known before a call is authenticated.
	 */
	public boolean knownBeforeAuthentication() {
		return this.source == Source.HOST || this.source == Source.METHOD;
	}

	/** By the exact name of the claim, else by the path that its dots make of it. */
	private @Nullable Object find(Map<String, Object> claims) {
		Object exact = claims.get(this.name);
		if (exact != null || this.name.indexOf('.') < 0) {
			return exact;
		}
		Object value = claims;
		for (String part : this.name.split("\\.")) {
			value = (value instanceof Map<?, ?> object) ? object.get(part) : null;
		}
		return value;
	}

	/** Other types have no text that all issuers agree on. */
	static @Nullable String text(@Nullable Object value) {
		if (!(value instanceof Number number)) {
			return (value instanceof String text) ? text : null;
		}
		try {
			BigDecimal decimal = new BigDecimal(number.toString()).stripTrailingZeros();
			boolean small = decimal.precision() <= LONGEST_NUMBER && Math.abs((long) decimal.scale()) <= LONGEST_NUMBER;
			return small ? decimal.toPlainString() : null;
		}
		catch (NumberFormatException ex) {
			// Not a number, or infinite.
			return null;
		}
	}

	private static @Nullable String only(List<String> values) {
		return (values.size() == 1) ? values.get(0) : null;
	}

	/** In lower case, without the port and the dot of a full name. */
	private static @Nullable String host(@Nullable String header) {
		if (header == null) {
			return null;
		}
		String host = header.strip();
		int colon = host.lastIndexOf(':');
		if (colon > host.lastIndexOf(']')) {
			host = host.substring(0, colon);
		}
		return (host.endsWith(".") ? host.substring(0, host.length() - 1) : host).toLowerCase(Locale.ROOT);
	}

	/**
	 * Where a fact is found.
	 */
	public enum Source {

		CLAIM, HEADER, QUERY, COOKIE, HOST, METHOD

	}

}
