package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * Who calls. What is not known, or is blank, is {@code null}.
 *
 * @param tenant from a verified token or API key
 * @param user from who was authenticated
 * @param tier plan, from a verified token or API key
 * @param apiKey as it was sent
 * @param apiKeyVerified whether the key is known and the caller's own; otherwise it is
 * merely claimed
 * @param ip address of the caller, or of the last proxy if that does not tell
 * @param ipVerified whether it is certain to be the caller's
 * @param failed what could not be found out because something failed
 */
record Identity(@Nullable String tenant, @Nullable String user, @Nullable String tier, @Nullable String apiKey,
		boolean apiKeyVerified, @Nullable String ip, boolean ipVerified, Failed failed) {

	/** A caller about whom nothing was verified. */
	static final Identity NOBODY = new Identity(null, null, null, null, false, null);

	/** An authenticated user that cannot be told. */
	static final Identity UNTOLD = new Identity(null, null, null, null, false, null, true, Failed.PRINCIPAL);

	/**
	 * A caller with an address that is its own, of whom all could be found out.
	 */
	Identity(@Nullable String tenant, @Nullable String user, @Nullable String tier, @Nullable String apiKey,
			boolean apiKeyVerified, @Nullable String ip) {
		this(tenant, user, tier, apiKey, apiKeyVerified, ip, true, Failed.NOTHING);
	}

	static Identity ofUser(@Nullable String name) {
		return new Identity(null, text(name), null, null, false, null);
	}

	Identity withIp(@Nullable String ip, boolean verified) {
		return new Identity(this.tenant, this.user, this.tier, this.apiKey, this.apiKeyVerified, ip, verified,
				this.failed);
	}

	/**
	 * The same caller with an API key. What a token said stands. The key of another
	 * tenant says nothing about this caller, and its plan is not this tenant's.
	 * @param key the key
	 * @param verified whose key it is, {@code null} if nobody knows
	 */
	Identity withKey(String key, ApiKeyVerifier.@Nullable VerifiedKey verified) {
		String keyTenant = (verified != null) ? text(verified.tenant()) : null;
		boolean own = verified != null && (this.tenant == null || keyTenant == null || this.tenant.equals(keyTenant));
		if (verified == null || !own) {
			return new Identity(this.tenant, this.user, this.tier, key, false, this.ip, this.ipVerified, this.failed);
		}
		return new Identity((this.tenant != null) ? this.tenant : keyTenant, this.user,
				(this.tier == null) ? text(verified.tier()) : this.tier, key, true, this.ip, this.ipVerified,
				this.failed);
	}

	/**
	 * The same caller with an API key that could not be verified.
	 */
	Identity withFailedKey(String key) {
		return new Identity(this.tenant, this.user, this.tier, key, false, this.ip, this.ipVerified,
				(this.failed == Failed.NOTHING) ? Failed.API_KEY : Failed.BOTH);
	}

	/**
	 * A value that is a text with something in it, {@code null} for any other.
	 */
	static @Nullable String text(@Nullable Object value) {
		return (value instanceof String text && !text.isBlank()) ? text : null;
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "Identity[apiKeyVerified=" + this.apiKeyVerified + "]";
	}

	/**
	 * What could not be found out because something failed.
	 */
	enum Failed {

		NOTHING, PRINCIPAL, API_KEY, BOTH;

		boolean apiKey() {
			return this == API_KEY || this == BOTH;
		}

		boolean principal() {
			return this == PRINCIPAL || this == BOTH;
		}

	}

}
