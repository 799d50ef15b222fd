package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;

import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.web.HeaderOptions;

/**
 * All that can be said about the limiter in {@code application.yml}.
 *
 * @param enabled Whether requests are limited at all.
 * @param backend Where counters are kept; auto takes Redis when one is configured.
 * @param keyPrefix First part of every key in Redis, 1 to 8 lower-case letters, digits
 * and dashes.
 * @param unknownProperties What happens at start to properties under ratelimit that do
 * not exist; warn for applications that keep properties of their own there.
 * @param region Region of this instance, also the value of the dimension of that name.
 * @param redis How Redis is called; where it is comes from spring.data.redis.
 * @param headers What responses tell about limits.
 * @param identity How callers are told apart.
 * @param allow Callers that are never limited, by verified facts or IP range; an entry
 * matches if all it names does.
 * @param deny Callers that are always turned away; beats the allow-list.
 * @param fleet What is known about the fleet before it was seen.
 * @param memory Counters kept in this process.
 * @param lease Permits taken ahead from Redis.
 * @param hot Counters with a lot of traffic.
 * @param policiesStore Where policies that are edited at run time are kept.
 * @param selfService What administrators of tenants may do themselves.
 * @param events Usage events, one for each decision, sent to Kafka.
 * @param refusals What is written down about requests that were refused.
 * @param onUnknownPolicy What happens to a request whose policy is gone.
 * @param redSwitch Forces a mode on all policies while set.
 * @param policies Policies by id; an id with a dot needs brackets in YAML.
 */
@ConfigurationProperties("ratelimit")
public record RateLimitProperties(@DefaultValue("true") boolean enabled, @DefaultValue("auto") Backend backend,
		@DefaultValue("rl") String keyPrefix, @DefaultValue("fail") UnknownProperties unknownProperties,
		@DefaultValue("local") String region, @DefaultValue Redis redis, @DefaultValue Headers headers,
		@DefaultValue Identity identity, @DefaultValue List<Map<String, String>> allow,
		@DefaultValue List<Map<String, String>> deny, @DefaultValue Fleet fleet, @DefaultValue Memory memory,
		@DefaultValue Lease lease, @DefaultValue Hot hot, @DefaultValue PoliciesStore policiesStore,
		@DefaultValue SelfService selfService, @DefaultValue Events events, @DefaultValue Refusals refusals,
		@DefaultValue("allow") OnUnknownPolicy onUnknownPolicy, @Name("switch") @DefaultValue RedSwitch redSwitch,
		@DefaultValue Map<String, PolicyProperties> policies) {

	/**
	 * Where counters are kept.
	 */
	public enum Backend {

		AUTO, REDIS, MEMORY

	}

	/**
	 * What happens at start to properties under ratelimit that do not exist.
	 */
	public enum UnknownProperties {

		FAIL, WARN

	}

	/**
	 * What happens to a request whose policy is gone.
	 */
	public enum OnUnknownPolicy {

		ALLOW, DENY

	}

	/**
	 * How Redis is called.
	 *
	 * @param timeout Hard deadline of a check, after which the policy's failure mode
	 * answers; at least 1ms. A node that takes longer counts as failed.
	 * @param breaker When to stop asking a Redis node that fails.
	 * @param connectionFactory Name of the LettuceConnectionFactory bean whose Redis is
	 * used, where the application has several.
	 */
	public record Redis(@DefaultValue("20ms") Duration timeout, @DefaultValue Breaker breaker,
			@DefaultValue("") String connectionFactory) {

		/**
		 * When to stop asking a Redis node that fails.
		 *
		 * @param failureRate Share of failed checks, in percent, that opens the breaker.
		 * @param window Time over which checks are counted, in whole seconds from 2s to
		 * 1h.
		 * @param minimumCalls Checks needed before the share means anything.
		 * @param openFor Time before the node is tried again.
		 */
		public record Breaker(@DefaultValue("5") int failureRate, @DefaultValue("10s") Duration window,
				@DefaultValue("50") int minimumCalls, @DefaultValue("5s") Duration openFor) {
		}

	}

	/**
	 * What responses tell about limits.
	 *
	 * @param style Which header fields are written.
	 * @param degraded Whether a response tells that its limits could not be checked.
	 */
	public record Headers(@DefaultValue("both") HeaderOptions.Style style,
			@DefaultValue("marker") HeaderOptions.Degraded degraded) {
	}

	/**
	 * How callers are told apart.
	 *
	 * @param tenantClaim Claim of a verified token that names the tenant.
	 * @param userClaim Claim of a verified token that names the user.
	 * @param tierClaim Claim of a verified token that names the plan.
	 * @param apiKeyHeader Header that carries an API key.
	 * @param apiKeys Known API keys by digest, as "[sha256:hex]", and whose they are.
	 * @param trustedHops Number of own proxies in front; 0 takes the socket's address.
	 * @param trustedProxies Networks of these proxies, such as 10.0.0.0/8; if set,
	 * forwarded addresses and request ids are believed only from there.
	 * @param trustForwarded Whether the server may rewrite the remote address itself.
	 * @param ipv6Prefix Number of bits of an IPv6 address that make a caller.
	 * @param hash What is hashed with a salt before it leaves the process.
	 */
	public record Identity(@DefaultValue("tenant_id") String tenantClaim, @DefaultValue("sub") String userClaim,
			@DefaultValue("tier") String tierClaim, @DefaultValue("X-API-Key") String apiKeyHeader,
			@DefaultValue Map<String, ApiKey> apiKeys, @DefaultValue("0") int trustedHops,
			@DefaultValue List<String> trustedProxies, @DefaultValue("false") boolean trustForwarded,
			@DefaultValue("64") int ipv6Prefix, @DefaultValue Hash hash) {

		/**
		 * Whose key it is.
		 *
		 * @param tenant Tenant of the key.
		 * @param tier Plan of the key.
		 */
		public record ApiKey(@Nullable String tenant, @Nullable String tier) {
		}

		/**
		 * What is hashed with a salt before it leaves the process.
		 *
		 * @param ip Whether IPs are.
		 * @param user Whether users are.
		 * @param salt Secret, the same in every instance; without one, they share a
		 * random one through Redis.
		 * @param rotate Time after which a new hash is used, at least an hour and no less
		 * than the longest window.
		 */
		public record Hash(@DefaultValue("true") boolean ip, @DefaultValue("false") boolean user,
				@DefaultValue("") String salt, @DefaultValue("90d") Duration rotate) {

			boolean hasSalt() {
				return !this.salt.isBlank();
			}

			/** What is hashed in keys of counters. */
			Set<Dimension> dimensions() {
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
			@Nullable Duration longestWindow() {
				return (this.ip || this.user) ? this.rotate : null;
			}

			/** Without the salt: it is a secret. */
			@Override
			public String toString() {
				return "Hash[ip=" + this.ip + ", user=" + this.user + ", rotate=" + this.rotate + "]";
			}

		}

	}

	/**
	 * What is known about the fleet before it was seen.
	 *
	 * @param expected Number of instances that share the limits, until they were counted.
	 */
	public record Fleet(@Nullable Integer expected) {

		int orOne() {
			return (this.expected != null) ? this.expected : 1;
		}

	}

	/**
	 * Counters kept in this process.
	 *
	 * @param maxCounters Number of counters kept at most; those least used are forgotten.
	 */
	public record Memory(@DefaultValue("1000000") long maxCounters) {
	}

	/**
	 * Permits taken ahead from Redis.
	 *
	 * @param refresh Time that a lease should last.
	 * @param prefetchAt Share left, in percent, at which the next lease is fetched.
	 * @param expires Time after which unspent permits are lost.
	 */
	public record Lease(@DefaultValue("100ms") Duration refresh, @DefaultValue("20") int prefetchAt,
			@DefaultValue("1s") Duration expires) {
	}

	/**
	 * Counters with a lot of traffic.
	 *
	 * @param threshold Checks per second over the fleet that make a counter hot.
	 * @param top Number of counters that instances tell each other and list, 1 to 1000.
	 */
	public record Hot(@DefaultValue("10000") long threshold, @DefaultValue("100") int top) {
	}

	/**
	 * Where policies that are edited at run time are kept.
	 *
	 * @param type Kind of store; auto takes Redis when counters are kept there.
	 * @param snapshotFile File with the last known policies, for a start without the
	 * store.
	 * @param redis Redis of the store, where it is not the one of the counters.
	 */
	public record PoliciesStore(@DefaultValue("auto") Type type, @DefaultValue("") String snapshotFile,
			@DefaultValue Redis redis) {

		/**
		 * Redis of the store.
		 *
		 * @param url Where it is, for example redis://user:password@host:6379; empty for
		 * the one of the counters.
		 */
		public record Redis(@DefaultValue("") String url) {

			/** Without the URL: it may have a password in it. */
			@Override
			public String toString() {
				return "Redis[url=" + (this.url.isEmpty() ? "" : "…") + "]";
			}

		}

		/**
		 * Kind of store.
		 */
		public enum Type {

			AUTO, NONE, REDIS, R2DBC

		}

	}

	/**
	 * What administrators of tenants may do themselves.
	 *
	 * @param enabled Whether tenants can look at their usage and tighten their limits,
	 * under /ratelimit/tenants/me.
	 * @param authority Authority that makes somebody the administrator of the tenant in
	 * the token.
	 */
	public record SelfService(@DefaultValue("false") boolean enabled,
			@DefaultValue("ROLE_RATELIMIT_TENANT_ADMIN") String authority) {
	}

	/**
	 * Usage events, one for each decision, sent to Kafka.
	 *
	 * @param enabled Whether they are sent, with the settings of spring.kafka.
	 * @param topic Topic that they are sent to.
	 * @param bufferSize Number of events that wait or are not confirmed yet at most; what
	 * finds no room is dropped and counted.
	 * @param flushTimeout Time that the end of the application waits for events to be
	 * delivered.
	 */
	public record Events(@DefaultValue("false") boolean enabled, @DefaultValue("ratelimit-usage") String topic,
			@DefaultValue("50000") int bufferSize, @DefaultValue("5s") Duration flushTimeout) {
	}

	/**
	 * What is written down about requests that were refused.
	 *
	 * @param linesPerSecond Lines in the log at most in a second, per instance; 0 for
	 * none.
	 * @param sampleAllowed One in so many allowed requests is logged too; 0 for none.
	 * @param retention Time that a refusal is kept for the endpoint.
	 * @param maxEntries Number of refusals kept at most; 0 for none.
	 * @param perSecond Refusals kept at most in a second, per instance.
	 * @param perKey Refusals of one counter kept one by one before they are only counted.
	 */
	public record Refusals(@DefaultValue("10") int linesPerSecond, @DefaultValue("1000") int sampleAllowed,
			@DefaultValue("24h") Duration retention, @DefaultValue("100000") int maxEntries,
			@DefaultValue("100") int perSecond, @DefaultValue("3") int perKey) {
	}

	/**
	 * Forces a mode on all policies while set.
	 *
	 * @param mode Failure mode that answers every check of this instance; empty for none.
	 */
	public record RedSwitch(@Nullable FailureMode mode) {
	}

}
