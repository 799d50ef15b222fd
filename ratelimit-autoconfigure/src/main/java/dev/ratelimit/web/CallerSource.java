package dev.ratelimit.web;

/**
 * A kind of authentication whose callers are identified without code.
 */
public enum CallerSource {

	/** An OIDC login: the claims of the user, by the same names as those of tokens. */
	OIDC,

	/** A user of the application, as after Basic authentication or a form login. */
	USER_DETAILS,

	/** A client certificate: its organization is the tenant. */
	X509

}
