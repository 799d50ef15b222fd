package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailureMode;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;

/**
 * Meters every decision. A tag has the id of a policy, the name of a limit or a word of
 * the vocabulary, never anything about a caller, so that the number of meters is bounded
 * by the configuration.
 *
 * <p>
 * Meters are looked up by policy and ordinals and registered when first needed: to record
 * a decision allocates nothing. Those of policies and versions that are no longer in
 * force go with the first decision after the change.
 */
public final class MeterListener implements DecisionListener {

	static final String DECISIONS = "ratelimit.decisions";

	static final String REFUSALS = "ratelimit.refusals";

	static final String LATENCY = "ratelimit.decision.latency";

	static final String DEGRADED = "ratelimit.degraded";

	static final String POLICY_INFO = "ratelimit.policy.info";

	static final String FLEET = "ratelimit.fleet.instances";

	/** From a decision in memory to the longest deadline that makes sense. */
	private static final Duration[] LATENCY_BUCKETS = LongStream
		.of(50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 50_000)
		.mapToObj((micros) -> Duration.ofNanos(micros * 1_000))
		.toArray(Duration[]::new);

	private final MeterRegistry registry;

	private final Supplier<PolicySet> policies;

	private final Timer latency;

	private final PolicyMeters unknown;

	private volatile Live live;

	/**
	 * Creates a listener and registers what there is without a decision.
	 * @param registry where meters are registered
	 * @param policies the snapshot in force
	 * @param instances how many instances share the limits
	 */
	public MeterListener(MeterRegistry registry, Supplier<PolicySet> policies, IntSupplier instances) {
		this.registry = registry;
		this.policies = policies;
		this.latency = Timer.builder(LATENCY)
			.description("Time from the request to the decision")
			.serviceLevelObjectives(LATENCY_BUCKETS)
			.register(registry);
		Gauge.builder(FLEET, instances::getAsInt)
			.description("Number of instances that share the limits")
			.register(registry);
		this.unknown = PolicyMeters.ofUnknown(registry);
		PolicySet current = policies.get();
		this.live = new Live(current, meters(current, new Live(PolicySet.of(), Map.of())));
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		this.latency.record(nanos, TimeUnit.NANOSECONDS);
		Live live = live();
		PolicyMeters meters = live.meters().getOrDefault(decision.policy(), this.unknown);
		meters.decided(decision.version(), decision.outcome(), decision.source());
		if (decision.outcome() == Decision.Outcome.REFUSED) {
			LimitStatus refusing = decision.refusedBy();
			if (refusing != null) {
				meters.refused(refusing.limit().name());
			}
		}
		FailureMode mode = decision.mode();
		if (mode != null) {
			meters.degraded(mode, decision.reason());
		}
	}

	private Live live() {
		Live live = this.live;
		return (live.policies() == this.policies.get()) ? live : refresh();
	}

	/**
	 * Asks for the snapshot again: a thread that saw an older one must not bring it back.
	 */
	private synchronized Live refresh() {
		PolicySet current = this.policies.get();
		if (this.live.policies() != current) {
			this.live = new Live(current, meters(current, this.live));
		}
		return this.live;
	}

	private Map<String, PolicyMeters> meters(PolicySet current, Live before) {
		before.meters().forEach((id, meters) -> {
			if (current.find(id) == null) {
				meters.retire();
			}
		});
		Map<String, PolicyMeters> meters = new HashMap<>();
		for (String id : current.ids()) {
			PolicyMeters known = before.meters().get(id);
			List<Policy> versions = current.versions(id);
			if (known == null) {
				meters.put(id, PolicyMeters.of(this.registry, versions));
			}
			else {
				boolean same = areSame(before.policies().versions(id), versions);
				meters.put(id, same ? known : known.succeededBy(versions));
			}
		}
		return Map.copyOf(meters);
	}

	/** By identity: of ten thousand policies a change leaves all but one as they are. */
	private static boolean areSame(List<Policy> before, List<Policy> now) {
		for (int i = 0; i < now.size(); i++) {
			if (i >= before.size() || before.get(i) != now.get(i)) {
				return false;
			}
		}
		return before.size() == now.size();
	}

	private record Live(PolicySet policies, Map<String, PolicyMeters> meters) {
	}

}
