package dev.ratelimit.metrics;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

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
 * How each Redis node fares: how fast it answers, why it does not, how far its clock is
 * off, whether it is asked. Meters of a node that has left are removed.
 */
public final class NodeMeters implements NodeListener {

	/** Permits that could not be given back, among the reasons of errors. */
	private static final String GIVE_BACK = "give-back";

	private final MeterRegistry registry;

	private final Map<String, OneNode> nodes = new ConcurrentHashMap<>();

	public NodeMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void answered(String node, long nanos, long skewMicros) {
		OneNode meters = of(node);
		meters.latency.record(nanos, TimeUnit.NANOSECONDS);
		meters.skewMicros = skewMicros;
	}

	@Override
	public void failed(String node, Decision.Reason reason) {
		of(node).error(reason.text());
	}

	@Override
	public void giveBackLost(String node) {
		of(node).error(GIVE_BACK);
	}

	@Override
	public void changed(String node, BreakerState state) {
		of(node).state = state;
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
		return (meters != null) ? meters : this.nodes.computeIfAbsent(node, (name) -> new OneNode(this.registry, name));
	}

	private static final class OneNode {

		private final MeterRegistry registry;

		private final String name;

		private final Timer latency;

		private final Meter skew;

		private final Meter breaker;

		private final Map<String, Counter> errors = new ConcurrentHashMap<>();

		private volatile long skewMicros;

		private volatile BreakerState state = BreakerState.CLOSED;

		OneNode(MeterRegistry registry, String name) {
			this.registry = registry;
			this.name = name;
			this.latency = Timer.builder(MeterNames.REDIS_LATENCY)
				.description("Time that a Redis node took to answer a check")
				.serviceLevelObjectives(MeterNames.latencyBuckets())
				.tag("node", name)
				.register(registry);
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

		void error(String reason) {
			this.errors
				.computeIfAbsent(reason,
						(text) -> Counter.builder(MeterNames.REDIS_ERRORS)
							.description("Checks that a Redis node did not answer, and give-backs that it did not take")
							.tags("node", this.name, "reason", text)
							.register(this.registry))
				.increment();
		}

		void remove() {
			this.registry.remove(this.latency);
			this.registry.remove(this.skew);
			this.registry.remove(this.breaker);
			this.errors.values().forEach(this.registry::remove);
		}

		private static String states() {
			StringBuilder text = new StringBuilder();
			for (BreakerState state : BreakerState.values()) {
				text.append((state.ordinal() > 0) ? ", " : "")
					.append(state.ordinal())
					.append(' ')
					.append(state.text().toLowerCase(Locale.ROOT));
			}
			return text.toString();
		}

	}

}
