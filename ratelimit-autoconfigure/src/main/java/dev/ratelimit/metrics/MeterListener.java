package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailureMode;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Loop;
import dev.ratelimit.policy.PolicySet;

/**
 * Meters every decision. A tag has the id of a policy, the name of a limit or a word of
 * the vocabulary, never anything about a caller, so that the number of meters is bounded
 * by the configuration.
 *
 * <p>
 * Meters are looked up by policy and ordinals and registered when first needed: to record
 * a decision allocates nothing. Latencies are gathered and handed to their timer once a
 * second, by a thread that also looks for policies and versions that are no longer in
 * force: their meters go then, or with the first decision after the change.
 */
public final class MeterListener implements DecisionListener, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(MeterListener.class);

	private static final Duration PERIOD = Duration.ofSeconds(1);

	private final MeterRegistry registry;

	private final Supplier<PolicySet> policies;

	private final Map<String, Policy> fixed;

	private final StartingSeries starting;

	private final LatencyRecorder latency;

	private final PolicyMeters unknown;

	private final ReentrantLock refreshing = new ReentrantLock();

	private volatile Live live;

	private final Loop loop = new Loop("ratelimit-meters", () -> {
		tidy();
		return PERIOD;
	}, this::tidy, new FailureLog(logger, "The meter registry refuses meters of the rate limiter ({})",
			"The meter registry takes all meters of the rate limiter again")
		.quiet());

	/**
	 * Creates a listener whose series start at 0. Latencies are seen once it is started.
	 * @param registry where meters are registered
	 * @param policies the snapshot in force
	 * @param fixed policies that decide next to it and never change, one of each id
	 * @param backend where counters are kept, {@code NONE} if series start with the first
	 * decision of their kind
	 */
	public MeterListener(MeterRegistry registry, Supplier<PolicySet> policies, List<Policy> fixed,
			Decision.Source backend) {
		this.registry = registry;
		this.starting = new StartingSeries(backend);
		this.policies = policies;
		this.fixed = fixed.stream().collect(Collectors.toUnmodifiableMap(Policy::id, Function.identity()));
		Duration[] buckets = MeterNames.latencyBuckets();
		this.latency = new LatencyRecorder(Timer.builder(MeterNames.DECISION_LATENCY)
			.description("Time from the request to the decision")
			.serviceLevelObjectives(buckets)
			.register(registry), buckets);
		this.unknown = PolicyMeters.ofUnknown(registry);
		PolicySet current = policies.get();
		this.live = new Live(current, meters(current, new Live(PolicySet.of(), Map.of())));
	}

	public void start() {
		this.loop.start(PERIOD);
	}

	/**
	 * Ends the thread, which hands over the last values.
	 */
	@Override
	public void close() {
		this.loop.end(PERIOD);
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		this.latency.record(nanos);
		count(decision);
	}

	/** A trial has no latency: no caller waits for it. */
	@Override
	public void tried(Request request, Decision decision) {
		count(decision);
	}

	@Override
	public void settled(String policy, Settlement settlement) {
		live().meters().getOrDefault(policy, this.unknown).settled(settlement);
	}

	private void count(Decision decision) {
		PolicyMeters meters = live().meters().getOrDefault(decision.policy(), this.unknown);
		meters.decided(decision.version(), decision.outcome(), decision.source());
		if (decision.outcome() == Decision.Outcome.REFUSED) {
			LimitStatus refusing = decision.refusedBy();
			if (refusing != null) {
				meters.refused(refusing.limit().name());
			}
		}
		else if (decision.replay() && decision.outcome() == Decision.Outcome.ALLOWED) {
			meters.replayed();
		}
		FailureMode mode = decision.mode();
		if (mode != null) {
			meters.degraded(mode, decision.reason());
			if (decision.allowed() && !decision.shadow()) {
				meters.overage(decision.cost());
			}
		}
	}

	/**
	 * Does the work that would slow down decisions.
	 */
	void tidy() {
		this.latency.handOver();
		live();
	}

	private Live live() {
		Live live = this.live;
		return (live.policies() == this.policies.get()) ? live : refresh();
	}

	/**
	 * Reads the snapshot again: a thread that saw an older one must not bring it back.
	 * Concurrent decisions do not wait, and count under the previous snapshot.
	 */
	private Live refresh() {
		if (this.refreshing.tryLock()) {
			try {
				PolicySet current = this.policies.get();
				if (this.live.policies() != current) {
					this.live = new Live(current, meters(current, this.live));
				}
			}
			finally {
				this.refreshing.unlock();
			}
		}
		return this.live;
	}

	private Map<String, PolicyMeters> meters(PolicySet current, Live before) {
		Set<String> ids = new HashSet<>(current.ids());
		ids.addAll(this.fixed.keySet());
		before.meters().forEach((id, meters) -> {
			if (!ids.contains(id)) {
				meters.retire();
			}
		});
		Map<String, PolicyMeters> meters = new HashMap<>();
		StartingSeries starting = (ids.size() <= StartingSeries.MOST_POLICIES) ? this.starting : StartingSeries.NONE;
		for (String id : ids) {
			PolicyMeters known = before.meters().get(id);
			List<Policy> versions = versions(current, id);
			if (known == null) {
				meters.put(id, PolicyMeters.of(this.registry, versions, starting));
			}
			else {
				boolean same = areSame(versions(before.policies(), id), versions);
				meters.put(id, same ? known : known.succeededBy(versions));
			}
		}
		return Map.copyOf(meters);
	}

	private List<Policy> versions(PolicySet policies, String id) {
		List<Policy> versions = policies.versions(id);
		Policy fixed = this.fixed.get(id);
		return (versions.isEmpty() && fixed != null) ? List.of(fixed) : versions;
	}

	/** By identity: a change replaces one policy of perhaps ten thousand. */
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
