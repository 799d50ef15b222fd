package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * Who calls. What is not known, or is blank, is {@code null}.
 *
 * @param tenant from a verified token or API key
 * @param user from who was authenticated
 * @param tier plan, from a verified token or API key
 * @param apiKey as it was sent
 * @param apiKeyVerified whether the key is known; otherwise it is merely claimed
 * @param ip address of the caller
 */
record Identity(@Nullable String tenant, @Nullable String user, @Nullable String tier, @Nullable String apiKey,
		boolean apiKeyVerified, @Nullable String ip) {

	/** A caller about whom nothing was verified. */
	static final Identity NOBODY = new Identity(null, null, null, null, false, null);

	static Identity ofUser(@Nullable String name) {
		return new Identity(null, text(name), null, null, false, null);
	}

	Identity withIp(@Nullable String ip) {
		return new Identity(this.tenant, this.user, this.tier, this.apiKey, this.apiKeyVerified, ip);
	}

	/**
	 * The same caller with an API key. What a token said stands; the plan of a key of
	 * another tenant is not this tenant's.
	 * @param key the key
	 * @param verified whose key it is, {@code null} if nobody knows
	 */
	Identity withKey(String key, ApiKeyVerifier.@Nullable VerifiedKey verified) {
		if (verified == null) {
			return new Identity(this.tenant, this.user, this.tier, key, false, this.ip);
		}
		String keyTenant = text(verified.tenant());
		boolean sameTenant = this.tenant == null || keyTenant == null || this.tenant.equals(keyTenant);
		return new Identity((this.tenant != null) ? this.tenant : keyTenant, this.user,
				(this.tier == null && sameTenant) ? text(verified.tier()) : this.tier, key, true, this.ip);
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

}
