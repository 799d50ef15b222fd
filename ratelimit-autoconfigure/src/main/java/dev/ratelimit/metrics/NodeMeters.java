package dev.ratelimit.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;

import dev.ratelimit.Decision;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.NodeListener;

/**
 * Meters of each Redis node: its latency, its errors, its outages, the skew of its clock
 * and the state of its breaker. They exist from the start, so that the first error is a
 * step from 0, and are removed with the node.
 */
final class NodeMeters implements NodeListener {

	private static final String GIVE_BACK = "give-back";

	private final MeterRegistry registry;

	private final LongSupplier nanos;

	private final Map<String, OneNode> nodes = new ConcurrentHashMap<>();

	/**
	 * @param nanos a monotonic clock, for the length of outages
	 */
	NodeMeters(MeterRegistry registry, LongSupplier nanos) {
		this.registry = registry;
		this.nanos = nanos;
	}

	@Override
	public void answered(String node, long nanos, long skewMicros) {
		OneNode meters = of(node);
		meters.latency.record(nanos, TimeUnit.NANOSECONDS);
		meters.skewMicros = skewMicros;
	}

	@Override
	public void failed(String node, Decision.Reason reason) {
		OneNode meters = of(node);
		meters.error(reason.text());
		if (reason == Decision.Reason.BREAKER_OPEN) {
			meters.refused(this.nanos.getAsLong());
		}
	}

	@Override
	public void giveBackLost(String node) {
		of(node).error(GIVE_BACK);
	}

	@Override
	public void changed(String node, BreakerState state) {
		OneNode meters = of(node);
		meters.state = state;
		if (state == BreakerState.CLOSED) {
			meters.outage.end(this.nanos.getAsLong());
		}
	}

	@Override
	public void left(String node) {
		OneNode meters = this.nodes.remove(node);
		if (meters != null) {
			meters.remove();
		}
	}

	private OneNode of(String node) {
		OneNode meters = this.nodes.get(node);
		return (meters != null) ? meters
				: this.nodes.computeIfAbsent(node, (name) -> new OneNode(this.registry, name, this.nanos));
	}

	/** Reasons for which a node itself, its breaker or its queue does not answer. */
	static Stream<Decision.Reason> nodeReasons() {
		return Stream.of(Decision.Reason.values()).filter((reason) -> switch (reason) {
			case TIMEOUT, BREAKER_OPEN, SATURATED, UNAVAILABLE, OUT_OF_MEMORY, READ_ONLY, LOADING, CLUSTER_DOWN,
					RESHARDING, FORBIDDEN, CORRUPT, INTERNAL ->
				true;
			case LIMITS, LIST, IDENTITY, COOL_DOWN, BAN, UNKNOWN_POLICY, SWITCH, NOT_AWAITED, API_KEY -> false;
		});
	}

	/**
	 * From the first call that a breaker refuses until it is closed.
	 */
	private static final class Outage {

		private static final long NONE = Long.MIN_VALUE;

		/** An outage without a refused check for so long is not shown as running. */
		private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);

		private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

		private final Timer timer;

		private final AtomicLong since = new AtomicLong(NONE);

		private volatile long lastRefused;

		Outage(Timer timer) {
			this.timer = timer;
		}

		/**
		 * Reads first: during an outage every check comes here.
		 * @return whether this call began the outage
		 */
		boolean begin(long now) {
			boolean begun = this.since.get() == NONE && this.since.compareAndSet(NONE, now);
			// Once a second at most: threads would wait for each other's writes.
			if (begun || now - this.lastRefused > SECOND_NANOS) {
				this.lastRefused = now;
			}
			return begun;
		}

		/**
		 * How long the outage has lasted; 0 if there is none. An idle instance does not
		 * know whether the node is back: its breaker closes with its next check.
		 */
		long running(long now) {
			long since = this.since.get();
			return (since == NONE || now - this.lastRefused > QUIET_NANOS) ? 0 : now - since;
		}

		/** Undoes a {@link #begin}. */
		void forget(long now) {
			this.since.compareAndSet(now, NONE);
		}

		void end(long now) {
			long since = this.since.getAndSet(NONE);
			if (since != NONE) {
				this.timer.record(now - since, TimeUnit.NANOSECONDS);
			}
		}

	}

	private static final class OneNode {

		private final MeterRegistry registry;

		private final String name;

		private final Timer latency;

		private final Meter skew;

		private final Meter breaker;

		private final Map<String, Counter> errors = new ConcurrentHashMap<>();

		private final Outage outage;

		private final Meter running;

		private volatile long skewMicros;

		private volatile BreakerState state = BreakerState.CLOSED;

		OneNode(MeterRegistry registry, String name, LongSupplier nanos) {
			this.registry = registry;
			this.name = name;
			this.latency = Timer.builder(MeterNames.REDIS_LATENCY)
				.description("Time that a Redis node took to answer a check")
				.serviceLevelObjectives(MeterNames.latencyBuckets())
				.tag("node", name)
				.register(registry);
			this.outage = new Outage(Timer.builder(MeterNames.OUTAGE)
				.description("Time from the first check that the breaker of a Redis node refused until it closed")
				.tag("node", name)
				.register(registry));
			this.running = TimeGauge
				.builder(MeterNames.OUTAGE_CURRENT, this.outage, TimeUnit.NANOSECONDS,
						(outage) -> outage.running(nanos.getAsLong()))
				.description("Time since the first check that the breaker of a Redis node refused, 0 without an outage")
				.tag("node", name)
				.register(registry);
			Stream.concat(nodeReasons().map(Decision.Reason::text), Stream.of(GIVE_BACK)).forEach(this::errors);
			this.skew = TimeGauge
				.builder(MeterNames.REDIS_CLOCK_SKEW, this, TimeUnit.MICROSECONDS, (meters) -> meters.skewMicros)
				.description("How far the clock of a Redis node is ahead of this instance's")
				.tag("node", name)
				.register(registry);
			this.breaker = Gauge.builder(MeterNames.BREAKER_STATE, this, (meters) -> meters.state.ordinal())
				.description("Breaker of a Redis node: " + states())
				.tag("node", name)
				.register(registry);
		}

		/** Another thread may have closed the breaker since it refused the check. */
		void refused(long now) {
			if (this.outage.begin(now) && this.state == BreakerState.CLOSED) {
				this.outage.forget(now);
			}
		}

		void error(String reason) {
			errors(reason).increment();
		}

		private Counter errors(String reason) {
			return this.errors.computeIfAbsent(reason,
					(text) -> Counter.builder(MeterNames.REDIS_ERRORS)
						.description("Checks that a Redis node did not answer, and give-backs that it did not take")
						.tags("node", this.name, "reason", text)
						.register(this.registry));
		}

		void remove() {
			this.registry.remove(this.latency);
			this.registry.remove(this.outage.timer);
			this.registry.remove(this.running);
			this.registry.remove(this.skew);
			this.registry.remove(this.breaker);
			this.errors.values().forEach(this.registry::remove);
		}

		private static String states() {
			return Stream.of(BreakerState.values())
				.map((state) -> state.ordinal() + " " + state.text())
				.collect(Collectors.joining(", "));
		}

	}

}
