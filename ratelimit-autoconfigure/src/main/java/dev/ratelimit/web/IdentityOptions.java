package dev.ratelimit.web;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

import dev.ratelimit.Dimension;

/**
 * Where the facts about a caller are found.
 *
 * @param tenantClaim Claim of a verified token that names the tenant.
 * @param userClaim Claim of a verified token that names the user.
 * @param tierClaim Claim of a verified token that names the plan.
 * @param apiKeyHeader Header that carries an API key.
 * @param apiKeyQuery Parameter of the query that carries an API key; access logs of
 * servers and proxies show it.
 * @param apiKeyClaim Claim of a verified token that names the API key.
 * @param apiKeyTiers Plans of verified API keys by pattern, as "[sk_prod_*]", for keys
 * without a plan of their own; the longest pattern wins.
 * @param apiKeys Known API keys by digest, as "[sha256:hex]", and whose they are.
 * @param trustedHops Number of own proxies in front; 0 takes the socket's address.
 * @param trustedProxies Networks of these proxies, such as 10.0.0.0/8; if set, forwarded
 * addresses and request ids are believed only from there.
 * @param trustForwarded Whether the server may rewrite the remote address itself.
 * @param ipv6Prefix Number of bits of an IPv6 address that make a caller.
 * @param hash What is hashed with a salt before it leaves the process.
 * @param resolvers Kinds of authentication whose callers are identified without a token,
 * in this order.
 */
public record IdentityOptions(@DefaultValue("tenant_id") String tenantClaim, @DefaultValue("sub") String userClaim,
		@DefaultValue("tier") String tierClaim, @DefaultValue("X-API-Key") String apiKeyHeader,
		@DefaultValue("") String apiKeyQuery, @DefaultValue("") String apiKeyClaim,
		@DefaultValue Map<String, String> apiKeyTiers, @DefaultValue Map<String, ApiKeyVerifier.VerifiedKey> apiKeys,
		@DefaultValue("0") int trustedHops, @DefaultValue List<String> trustedProxies,
		@DefaultValue("false") boolean trustForwarded, @DefaultValue("64") int ipv6Prefix, @DefaultValue Hash hash,
		@DefaultValue List<CallerSource> resolvers) {

	public static final IdentityOptions DEFAULTS = new IdentityOptions("tenant_id", "sub", "tier", "X-API-Key", "", "",
			Map.of(), Map.of(), 0, List.of(), false, 64, new Hash(true, false, "", Duration.ofDays(90)), List.of());

	public IdentityOptions {
		apiKeyTiers = Map.copyOf(apiKeyTiers);
		apiKeys = Map.copyOf(apiKeys);
		trustedProxies = List.copyOf(trustedProxies);
		resolvers = List.copyOf(resolvers);
	}

	/**
	 * What is hashed with a salt before it leaves the process.
	 *
	 * @param ip Whether IPs are.
	 * @param user Whether users are.
	 * @param salt Secret, the same in every instance; without one, they share a random
	 * one through Redis.
	 * @param rotate Time after which a new hash is used, at least an hour and no less
	 * than the longest window.
	 */
	public record Hash(@DefaultValue("true") boolean ip, @DefaultValue("false") boolean user,
			@DefaultValue("") String salt, @DefaultValue("90d") Duration rotate) {

		public boolean hasSalt() {
			return !this.salt.isBlank();
		}

		/** What is hashed in keys of counters. */
		public Set<Dimension> dimensions() {
			Set<Dimension> dimensions = new HashSet<>();
			if (this.ip) {
				dimensions.add(Dimension.IP);
			}
			if (this.user) {
				dimensions.add(Dimension.USER);
			}
			return dimensions;
		}

		/** A longer window would not be over when its counter is given up. */
		public @Nullable Duration longestWindow() {
			return (this.ip || this.user) ? this.rotate : null;
		}

		/** Without the salt: it is a secret. */
		@Override
		public String toString() {
			return "Hash[ip=" + this.ip + ", user=" + this.user + ", rotate=" + this.rotate + "]";
		}

	}

}
