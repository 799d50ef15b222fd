package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * The facts that identify a caller; {@code null} if they are unknown or blank.
 *
 * @param tenant from a verified token or API key
 * @param user from the authenticated principal
 * @param tier plan, from a verified token or API key
 * @param apiKey as it was sent
 * @param apiKeyVerified whether the key is known and the caller's own; otherwise it is
 * only claimed
 * @param ip address of the caller, or of the last proxy if that forwards none
 * @param ipVerified whether the address is certain to be the caller's
 * @param failed facts that are unknown because something failed
 */
record Identity(@Nullable String tenant, @Nullable String user, @Nullable String tier, @Nullable String apiKey,
		boolean apiKeyVerified, @Nullable String ip, boolean ipVerified, Failed failed) {

	/** A caller without any verified fact. */
	static final Identity NOBODY = new Identity(null, null, null, null, false, null);

	/** A caller whose principal failed. */
	static final Identity FAILED = new Identity(null, null, null, null, false, null, true, new Failed(true, false));

	/**
	 * A caller with a verified address, and without failures.
	 */
	Identity(@Nullable String tenant, @Nullable String user, @Nullable String tier, @Nullable String apiKey,
			boolean apiKeyVerified, @Nullable String ip) {
		this(tenant, user, tier, apiKey, apiKeyVerified, ip, true, Failed.NOTHING);
	}

	static Identity ofUser(@Nullable String name) {
		return ofClaims(null, name, null);
	}

	static Identity of(CallerResolver.Caller caller) {
		return ofClaims(caller.tenant(), caller.user(), caller.tier());
	}

	static Identity ofClaims(@Nullable Object tenant, @Nullable Object user, @Nullable Object tier) {
		return new Identity(text(tenant), text(user), text(tier), null, false, null);
	}

	Identity withIp(@Nullable String ip, boolean verified) {
		return new Identity(this.tenant, this.user, this.tier, this.apiKey, this.apiKeyVerified, ip, verified,
				this.failed);
	}

	/**
	 * The same caller with an API key. Facts of a token take precedence. The key of
	 * another tenant says nothing about this caller, and its plan is not this tenant's.
	 * @param verified owner of the key, {@code null} if it is unknown
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
				new Failed(this.failed.principal(), true));
	}

	/**
	 * A text that is not blank, {@code null} for any other value.
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
	 * Facts that are unknown because something failed.
	 */
	record Failed(boolean principal, boolean apiKey) {

		static final Failed NOTHING = new Failed(false, false);

	}

}
