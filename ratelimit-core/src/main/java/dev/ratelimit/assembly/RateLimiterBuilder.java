package dev.ratelimit.assembly;

import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Policy;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Timer;
import dev.ratelimit.counter.Demand;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.lease.LeaseListener;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.redis.RedisCounters;
import dev.ratelimit.split.SplitCounters;
import dev.ratelimit.split.Splitting;

/**
 * Makes a limiter: the one place that knows which layers a check goes through.
 *
 * <pre>
 * limiter → parts → leases → deadline and breakers → Redis
 * limiter → memory
 * </pre>
 *
 * Leases stand outside of the guard, so that permits already paid for are spent while a
 * breaker is open. Parts stand outside of leases, so that a part is leased as any
 * counter.
 *
 * <pre>
 * RateLimiter limiter = RateLimiterBuilder.inMemory()
 *     .policies(Policy.builder("orders").limit("per-user", List.of(Dimension.USER), "100/m").build())
 *     .build();
 * </pre>
 */
public final class RateLimiterBuilder {

	private static final int MAX_COUNTERS = 1_000_000;

	private final Counters counters;

	private Supplier<PolicySet> policies = PolicySet::of;

	private CounterKeys keys = new CounterKeys("rl");

	private Splitting splitting = Splitting.CONFIGURED;

	private @Nullable Fallback fallback;

	private LimiterOptions options = LimiterOptions.DEFAULTS;

	private List<DecisionListener> listeners = List.of();

	private @Nullable Penalties penalties;

	private RateLimiterBuilder(Counters counters) {
		this.counters = counters;
	}

	/**
	 * A limiter that counts in this process.
	 */
	public static RateLimiterBuilder inMemory() {
		return on(new MemoryCounters(MAX_COUNTERS, MemoryCounters::systemMicros));
	}

	/**
	 * A limiter on counters of any kind.
	 */
	public static RateLimiterBuilder on(Counters counters) {
		return new RateLimiterBuilder(counters);
	}

	/**
	 * Counters in Redis, within the deadline and through the breaker of their node.
	 * @param nodeTimeout time that a node has before a missing answer counts against it
	 */
	public static Counters guarded(RedisCounters redis, Nodes nodes, Deadlines deadlines, Duration nodeTimeout) {
		return new GuardedCounters(redis, nodes, deadlines, nodeTimeout);
	}

	/**
	 * Guarded counters of which permits are taken ahead.
	 * @param instances how many instances share the permits
	 * @param demand says which counters are hot
	 * @param timer ends the waiting for permits, usually the deadlines of the guard
	 */
	public static LeasedCounters leased(Counters guarded, LeaseOptions options, IntSupplier instances, Demand demand,
			LeaseListener listener, Timer timer) {
		return new LeasedCounters(guarded, options, instances, demand, listener, System::nanoTime, timer);
	}

	/**
	 * Policies that never change.
	 */
	public RateLimiterBuilder policies(Policy... policies) {
		PolicySet set = PolicySet.of(policies);
		return policies(() -> set);
	}

	/**
	 * Policies that may change.
	 * @param policies the snapshot in force, asked for with every request
	 */
	public RateLimiterBuilder policies(Supplier<PolicySet> policies) {
		this.policies = policies;
		return this;
	}

	/**
	 * Names the counters in Redis; by default with the prefix {@code rl}.
	 */
	public RateLimiterBuilder keys(CounterKeys keys) {
		this.keys = keys;
		return this;
	}

	/**
	 * The number of parts of a counter; by default the {@code split} of its limit.
	 */
	public RateLimiterBuilder splitting(Splitting splitting) {
		this.splitting = splitting;
		return this;
	}

	/**
	 * Decides while the counters do not answer; by default counters in this process.
	 */
	public RateLimiterBuilder fallback(Fallback fallback) {
		this.fallback = fallback;
		return this;
	}

	/**
	 * Deadline, unknown policies and IPv6 prefix.
	 */
	public RateLimiterBuilder options(LimiterOptions options) {
		this.options = options;
		return this;
	}

	/**
	 * Listeners that see every decision.
	 */
	public RateLimiterBuilder listeners(List<DecisionListener> listeners) {
		this.listeners = List.copyOf(listeners);
		return this;
	}

	/**
	 * Cool-downs and bans; by default those of this process.
	 */
	public RateLimiterBuilder penalties(Penalties penalties) {
		this.penalties = penalties;
		return this;
	}

	/**
	 * Makes the limiter.
	 */
	public PolicyRateLimiter build() {
		Fallback fallback = (this.fallback != null) ? this.fallback
				: Fallback.to(new MemoryCounters(MAX_COUNTERS, MemoryCounters::systemMicros));
		Counters counters = SplitCounters.of(this.counters, this.splitting);
		Penalties penalties = (this.penalties != null) ? this.penalties : Penalties.local((policy, kind) -> {
		}, (ip) -> false, System::nanoTime);
		return new PolicyRateLimiter(this.policies, this.keys, counters, fallback, this.options, this.listeners,
				penalties);
	}

}
