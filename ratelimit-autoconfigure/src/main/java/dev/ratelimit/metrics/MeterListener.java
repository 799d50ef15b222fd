package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * a decision allocates nothing. Latencies are gathered and handed to their timer once a
 * second, by a thread that also looks for policies and versions that are no longer in
 * force: their meters go then, or with the first decision after the change.
 */
public final class MeterListener implements DecisionListener, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(MeterListener.class);

	private static final long PERIOD_MILLIS = 1_000;

	private final MeterRegistry registry;

	private final Supplier<PolicySet> policies;

	private final Map<String, Policy> fixed;

	private final LatencyRecorder latency;

	private final PolicyMeters unknown;

	private final ReentrantLock refreshing = new ReentrantLock();

	private volatile Live live;

	private @Nullable CountDownLatch end;

	private @Nullable Thread thread;

	/**
	 * Creates a listener and registers what there is without a decision. Latencies are
	 * seen once it is started.
	 * @param registry where meters are registered
	 * @param policies the snapshot in force
	 * @param fixed those that decide beside it
	 */
	public MeterListener(MeterRegistry registry, Supplier<PolicySet> policies, FixedPolicies fixed) {
		this.registry = registry;
		this.policies = policies;
		this.fixed = fixed.policies().stream().collect(Collectors.toUnmodifiableMap(Policy::id, Function.identity()));
		Duration[] buckets = MeterNames.latencyBuckets();
		this.latency = new LatencyRecorder(Timer.builder(MeterNames.DECISION_LATENCY)
			.description("Time from the request to the decision")
			.serviceLevelObjectives(buckets)
			.register(registry), buckets);
		this.unknown = PolicyMeters.ofUnknown(registry);
		PolicySet current = policies.get();
		this.live = new Live(current, meters(current, new Live(PolicySet.of(), Map.of())));
	}

	public synchronized void start() {
		if (this.thread == null) {
			CountDownLatch end = new CountDownLatch(1);
			this.end = end;
			this.thread = new Thread(() -> run(end), "ratelimit-meters");
			this.thread.setDaemon(true);
			this.thread.start();
		}
	}

	/**
	 * Ends the thread, which hands over what there is.
	 */
	@Override
	public void close() {
		Thread thread;
		synchronized (this) {
			thread = this.thread;
			this.thread = null;
			if (this.end != null) {
				this.end.countDown();
			}
		}
		try {
			if (thread != null) {
				thread.join(PERIOD_MILLIS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		this.latency.record(nanos);
		count(decision);
	}

	/** Nobody waited for it, so it has no latency. */
	@Override
	public void tried(Request request, Decision decision) {
		count(decision);
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
		FailureMode mode = decision.mode();
		if (mode != null) {
			meters.degraded(mode, decision.reason());
			if (decision.allowed() && !decision.shadow()) {
				meters.overage(decision.cost());
			}
		}
	}

	/**
	 * Does what decisions have no time for.
	 */
	void tidy() {
		this.latency.handOver();
		live();
	}

	private void run(CountDownLatch end) {
		try {
			boolean ended = false;
			while (!ended) {
				ended = end.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS);
				tryToTidy();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void tryToTidy() {
		try {
			tidy();
		}
		catch (RuntimeException ex) {
			logger.debug("A registry does not take what was metered", ex);
		}
	}

	private Live live() {
		Live live = this.live;
		return (live.policies() == this.policies.get()) ? live : refresh();
	}

	/**
	 * Asks for the snapshot again: a thread that saw an older one must not bring it back.
	 * Decisions that are made meanwhile do not wait, and count by what was in force.
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
		for (String id : ids) {
			PolicyMeters known = before.meters().get(id);
			List<Policy> versions = versions(current, id);
			if (known == null) {
				meters.put(id, PolicyMeters.of(this.registry, versions));
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
