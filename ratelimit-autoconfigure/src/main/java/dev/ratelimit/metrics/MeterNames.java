package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.stream.LongStream;

/**
 * Names of all meters. Dashboards and alerts use them, so a name never changes;
 * {@code docs/monitoring.md} explains each.
 */
public final class MeterNames {

	public static final String DECISIONS = "ratelimit.decisions";

	public static final String REFUSALS = "ratelimit.refusals";

	public static final String REFUSALS_MISSING = "ratelimit.refusals.missing";

	public static final String DECISION_LATENCY = "ratelimit.decision.latency";

	public static final String DEGRADED = "ratelimit.degraded";

	public static final String OVERAGE = "ratelimit.overage";

	public static final String SETTLE = "ratelimit.settle";

	public static final String REPLAYS = "ratelimit.replays";

	public static final String POLICY_INFO = "ratelimit.policy.info";

	public static final String FLEET_INSTANCES = "ratelimit.fleet.instances";

	public static final String SWITCH_ON = "ratelimit.switch.on";

	public static final String REDIS_LATENCY = "ratelimit.redis.latency";

	public static final String REDIS_ERRORS = "ratelimit.redis.errors";

	public static final String REDIS_CLOCK_SKEW = "ratelimit.redis.clock.skew";

	public static final String OUTAGE = "ratelimit.outage";

	public static final String OUTAGE_CURRENT = "ratelimit.outage.current";

	public static final String BREAKER_STATE = "ratelimit.breaker.state";

	public static final String LEASE_HITS = "ratelimit.lease.hits";

	public static final String LEASE_REFILLS = "ratelimit.lease.refills";

	public static final String LEASE_SIZE = "ratelimit.lease.size";

	public static final String POLICIES_STALE = "ratelimit.policies.stale";

	public static final String POLICIES_MISSING = "ratelimit.policies.missing";

	public static final String POLICIES_REJECTED = "ratelimit.policies.rejected";

	public static final String POLICIES_VERSION = "ratelimit.policies.version";

	public static final String POLICIES_PROPAGATION = "ratelimit.policies.propagation";

	public static final String ROLLBACKS = "ratelimit.rollout.rollbacks";

	public static final String ROLLOUT_WAITING = "ratelimit.rollout.waiting";

	public static final String ROLLOUT_ACTIVE = "ratelimit.rollout.active";

	public static final String ROLLOUT_LEADER = "ratelimit.rollout.leader";

	public static final String AUDIT_LOST = "ratelimit.audit.lost";

	public static final String EVENTS_DELIVERED = "ratelimit.events.delivered";

	public static final String EVENTS_DROPPED = "ratelimit.events.dropped";

	public static final String PENALTIES = "ratelimit.penalties";

	public static final String BANS = "ratelimit.bans";

	public static final String HOT_KEYS = "ratelimit.hotkeys";

	public static final String HOT_KEYS_MAX_RATE = "ratelimit.hotkeys.max.rate";

	/**
	 * Buckets of both latencies, from a decision in memory to the longest deadline that
	 * makes sense. Few, as each is a time series of every node.
	 */
	private static final long[] LATENCY_MICROS = { 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 50_000 };

	private MeterNames() {
	}

	static Duration[] latencyBuckets() {
		return LongStream.of(LATENCY_MICROS)
			.mapToObj((micros) -> Duration.ofNanos(micros * 1_000))
			.toArray(Duration[]::new);
	}

}
