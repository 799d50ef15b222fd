package dev.ratelimit.web;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

import dev.ratelimit.IpAddress;

/**
 * Where the facts about a caller are found.
 *
 * @param tenantClaim claim of a verified token that names the tenant
 * @param userClaim claim that names the user
 * @param tierClaim claim that names the plan
 * @param apiKeyHeader header that carries an API key, empty for none
 * @param apiKeys keys that are known, by {@code sha256:} and the hex digest of the key
 * @param trustedHops proxies of our own in front of us; with 0 the socket's address is
 * the caller's
 * @param trustedProxies where these proxies are: what others say about a caller's address
 * and its request id is not believed; empty to believe whoever connects
 */
public record IdentityOptions(String tenantClaim, String userClaim, String tierClaim, String apiKeyHeader,
		Map<String, ApiKeyVerifier.VerifiedKey> apiKeys, int trustedHops, List<IpAddress.Range> trustedProxies) {

	public static final IdentityOptions DEFAULTS = new IdentityOptions("tenant_id", "sub", "tier", "X-API-Key",
			Map.of(), 0);

	/** What a configured key starts with. */
	static final String DIGEST_PREFIX = "sha256:";

	private static final Pattern DIGEST = Pattern.compile(DIGEST_PREFIX + "[0-9a-f]{64}");

	public IdentityOptions {
		Map<String, ApiKeyVerifier.VerifiedKey> known = new HashMap<>();
		apiKeys.forEach((digest, key) -> known.put(requireDigest(digest), key));
		apiKeys = Map.copyOf(known);
		if (trustedHops < 0) {
			throw new IllegalArgumentException("trusted-hops must not be negative but was " + trustedHops
					+ ", count the proxies of your own in front of the application");
		}
		trustedProxies = List.copyOf(trustedProxies);
	}

	/**
	 * Options that do not say where the proxies are.
	 */
	public IdentityOptions(String tenantClaim, String userClaim, String tierClaim, String apiKeyHeader,
			Map<String, ApiKeyVerifier.VerifiedKey> apiKeys, int trustedHops) {
		this(tenantClaim, userClaim, tierClaim, apiKeyHeader, apiKeys, trustedHops, List.of());
	}

	/** The text stays out of the message: whoever gets it wrong has put in the key. */
	private static String requireDigest(String text) {
		String digest = text.toLowerCase(Locale.ROOT);
		if (!DIGEST.matcher(digest).matches()) {
			throw new IllegalArgumentException("a name in api-keys is not a digest, write \"[" + DIGEST_PREFIX
					+ "<64 hex digits>]\" with the SHA-256 of the key; in YAML the brackets keep the colon");
		}
		return digest;
	}

}
