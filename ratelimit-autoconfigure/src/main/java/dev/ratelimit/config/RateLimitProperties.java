package dev.ratelimit.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;

import dev.ratelimit.FailureMode;
import dev.ratelimit.events.EventOptions;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.IdentityOptions;

/**
 * Properties of the limiter in {@code application.yml}.
 *
 * @param enabled Whether requests are limited at all.
 * @param backend Where counters are kept; auto uses Redis if one is configured.
 * @param keyPrefix First part of every key in Redis, 1 to 8 lower-case letters, digits
 * and dashes.
 * @param unknownProperties What happens at start to properties under ratelimit that do
 * not exist; warn for applications that keep properties of their own there.
 * @param region Region of this instance, also the value of dimension region.
 * @param redis How Redis is called; its address comes from spring.data.redis.
 * @param headers What responses say about limits.
 * @param identity How callers are identified.
 * @param allow Callers that are never limited, by verified facts or IP range; an entry
 * matches if all of its values do.
 * @param deny Callers that are always refused; beats the allow-list.
 * @param fleet Size of the fleet until the instances are counted.
 * @param memory Counters kept in this process.
 * @param lease Permits taken ahead from Redis.
 * @param hot Counters with a lot of traffic.
 * @param policiesStore Where policies that are edited at run time are kept.
 * @param audit Bounds of the audit trail in the policy store.
 * @param selfService What administrators of tenants may do themselves.
 * @param events Usage events, one for each decision, sent to Kafka.
 * @param refusals Log and history of refused requests.
 * @param onUnknownPolicy What happens to a request whose policy does not exist.
 * @param modeSwitch Forces a mode on all policies while set.
 * @param dimensions Custom dimensions by name; they need no code.
 * @param urls Limits by path and method, by name; they need no code.
 * @param policies Policies by id; an id with a dot needs brackets in YAML.
 */
@ConfigurationProperties("ratelimit")
public record RateLimitProperties(@DefaultValue("true") boolean enabled, @DefaultValue("auto") Backend backend,
		@DefaultValue("rl") String keyPrefix, @DefaultValue("fail") UnknownProperties unknownProperties,
		@DefaultValue("local") String region, @DefaultValue Redis redis,
		@NestedConfigurationProperty @DefaultValue HeaderOptions headers,
		@NestedConfigurationProperty @DefaultValue IdentityOptions identity,
		@DefaultValue List<Map<String, String>> allow, @DefaultValue List<Map<String, String>> deny,
		@DefaultValue Fleet fleet, @DefaultValue Memory memory, @DefaultValue Lease lease, @DefaultValue Hot hot,
		@DefaultValue PoliciesStore policiesStore, @DefaultValue Audit audit, @DefaultValue SelfService selfService,
		@NestedConfigurationProperty @DefaultValue EventOptions events, @DefaultValue Refusals refusals,
		@DefaultValue("allow") OnUnknownPolicy onUnknownPolicy, @Name("switch") @DefaultValue Switch modeSwitch,
		@DefaultValue Map<String, DimensionProperties> dimensions, @DefaultValue Map<String, UrlProperties> urls,
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
	 * What happens to a request whose policy does not exist.
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
		 * @param minimumCalls Checks in the window before the breaker can open.
		 * @param openFor Time until the node is tried again.
		 */
		public record Breaker(@DefaultValue("5") int failureRate, @DefaultValue("10s") Duration window,
				@DefaultValue("50") int minimumCalls, @DefaultValue("5s") Duration openFor) {
		}

	}

	/**
	 * Size of the fleet until the instances are counted.
	 *
	 * @param expected Number of instances that share the limits, at least 1; used until
	 * they are counted.
	 */
	public record Fleet(@Nullable Integer expected) {

		public int orOne() {
			return (this.expected != null) ? this.expected : 1;
		}

	}

	/**
	 * Counters kept in this process.
	 *
	 * @param maxCounters Most counters that are kept; the least used ones are dropped.
	 */
	public record Memory(@DefaultValue("1000000") long maxCounters) {
	}

	/**
	 * Permits taken ahead from Redis.
	 *
	 * @param refresh Time that a lease should last.
	 * @param prefetchAt Share left, in percent from 0 to 90, at which the next lease is
	 * fetched.
	 * @param expires Time after which unspent permits are lost, at least the refresh.
	 */
	public record Lease(@DefaultValue("100ms") Duration refresh, @DefaultValue("20") int prefetchAt,
			@DefaultValue("1s") Duration expires) {
	}

	/**
	 * Counters with a lot of traffic.
	 *
	 * @param threshold Checks per second over the fleet that make a counter hot.
	 * @param top Number of counters that instances exchange and list, 1 to 1000.
	 */
	public record Hot(@DefaultValue("10000") long threshold, @DefaultValue("100") int top) {
	}

	/**
	 * Where policies that are edited at run time are kept.
	 *
	 * @param type Kind of store; auto uses Redis if counters are kept there.
	 * @param snapshotFile File with the last known policies, for a start while the store
	 * is unavailable: a path, auto for one among the user's state files, or none.
	 * @param startTimeout Time since the start, or since the store last sent something
	 * new, that the application is not ready because neither the store nor a snapshot
	 * could be read.
	 * @param onUnavailable What happens after the start timeout: start with the
	 * configured policies alone, or fail.
	 * @param redis Redis of the store, if it is not the one of the counters.
	 */
	public record PoliciesStore(@DefaultValue("auto") Type type, @DefaultValue("auto") String snapshotFile,
			@DefaultValue("30s") Duration startTimeout, @DefaultValue("start") OnUnavailable onUnavailable,
			@DefaultValue Redis redis) {

		/**
		 * What happens if the store cannot be read at a start.
		 */
		public enum OnUnavailable {

			START, FAIL

		}

		/**
		 * Redis of the store.
		 *
		 * @param url Address, for example redis://user:password@host:6379; empty for the
		 * Redis of the counters.
		 */
		public record Redis(@DefaultValue("") String url) {

			/** Without the URL, which may contain a password. */
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
	 * Bounds of the audit trail in the policy store.
	 *
	 * @param retention Time that an entry is kept, 1d to 3650d.
	 * @param maxEntries Most entries that are kept, 100 to 10000000.
	 * @param keyPrefix First part of the trail's key in Redis, 1 to 8 lower-case letters,
	 * digits and dashes, if it is not ratelimit.key-prefix: for a Redis user that may
	 * only add to the trail.
	 */
	public record Audit(@DefaultValue("90d") Duration retention, @DefaultValue("100000") int maxEntries,
			@DefaultValue("") String keyPrefix) {
	}

	/**
	 * What administrators of tenants may do themselves.
	 *
	 * @param enabled Whether administrators of tenants can see their usage and tighten
	 * their limits, under /ratelimit/tenants/me.
	 * @param authority Authority of a tenant's administrators; the token names the
	 * tenant.
	 */
	public record SelfService(@DefaultValue("false") boolean enabled,
			@DefaultValue("ROLE_RATELIMIT_TENANT_ADMIN") String authority) {
	}

	/**
	 * Log and history of refused requests.
	 *
	 * @param linesPerSecond Most lines in the log per second and instance, 0 to 10000; 0
	 * for none.
	 * @param sampleAllowed Logs one in this many allowed requests too; 0 for none.
	 * @param retention Time that a refusal is kept for the endpoint, 1m to 365d.
	 * @param maxEntries Most refusals that are kept, 0 to 10000000; 0 for none.
	 * @param perSecond Most refusals kept per second and instance, 1 to 400.
	 * @param perKey Refusals of one counter that are kept one by one, 1 to 10000; further
	 * ones are only counted.
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
	public record Switch(@Nullable FailureMode mode) {
	}

}
