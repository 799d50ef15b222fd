package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Policy;
import dev.ratelimit.Rollout;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.FleetSums;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordVersion;

/**
 * Brings versions with stages to their callers. Every instance adds what it counts to the
 * fleet's numbers, about once a second; one of them, which the store chooses, looks at
 * these and writes the next stage, or the version before if the new one refuses too much.
 *
 * <p>
 * Whatever it writes expects the version that it has looked at. So it never undoes what
 * somebody wrote meanwhile, and if two instances should think that they lead, only one of
 * them writes.
 */
public final class RolloutLeader implements AutoCloseable {

	/** Who it is in the history of a policy. */
	static final String ACTOR = "rollout";

	static final String TASK = "rollout";

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final Duration PAUSE = Duration.ofSeconds(1);

	/** Several pauses, so that one slow answer does not move the task. */
	private static final Duration TERM = Duration.ofSeconds(5);

	private static final Duration PATIENCE = Duration.ofSeconds(2);

	private final PolicyStore store;

	private final ControlPlane control;

	private final LivePolicies live;

	private final RolloutTallies tallies;

	private final String instance;

	private final InstantSource clock;

	private final List<RolloutListener> listeners;

	private final CountDownLatch ended = new CountDownLatch(1);

	private final Thread thread = new Thread(this::run, "ratelimit-rollout");

	/**
	 * Creates one that has not started.
	 * @param sums numbers of the fleet, {@code null} if this instance's own have to do
	 * @param instance name of this instance
	 * @param clock about that of the store, which dates the versions
	 */
	public RolloutLeader(PolicyStore store, ControlPlane control, LivePolicies live, @Nullable FleetSums sums,
			String instance, InstantSource clock, List<RolloutListener> listeners) {
		this.store = store;
		this.control = control;
		this.live = live;
		this.tallies = new RolloutTallies(sums);
		this.instance = instance;
		this.clock = clock;
		this.listeners = List.copyOf(listeners);
		this.thread.setDaemon(true);
	}

	public void start() {
		this.thread.start();
	}

	@Override
	public void close() {
		this.ended.countDown();
		this.thread.interrupt();
	}

	/**
	 * How far a policy is, {@code null} if its newest version is for everybody.
	 */
	public @Nullable RolloutState state(String id) {
		PolicySet policies = this.live.current();
		Policy policy = policies.find(id);
		RecordVersion newest = this.control.find(RecordIds.policy(id));
		Comparison comparison = policies.comparison(id);
		if (policy == null || newest == null || newest.version() != policy.version()
				|| (comparison == null && !isUnderWay(policy))) {
			return null;
		}
		Rollout rollout = policy.settings().rollout();
		Instant since = RolloutStep.start(rollout, newest.time());
		Instant end = since.plus(rollout.hold());
		boolean more = isUnderWay(policy) && rollout.percentAt(since, end) > rollout.percent();
		return new RolloutState(policy.version(), (comparison != null) ? comparison.previousVersion() : null,
				rollout.percent(), rollout.stages().indexOf(rollout.percent()) + 1, rollout.stages().size(), since,
				more ? end : null, this.tallies.find(policies, id));
	}

	/**
	 * Looks at all rollouts once, as it does by itself when it was started. Waits for the
	 * store.
	 */
	public void look() {
		PolicySet policies = this.live.current();
		this.tallies.exchange(policies);
		List<Policy> underWay = policies.policies().stream().filter(RolloutLeader::isUnderWay).toList();
		if (!underWay.isEmpty() && done(this.store.lead(TASK, this.instance, TERM))) {
			stepAll(policies, underWay);
		}
	}

	/** One that cannot go on must not keep the others. */
	private void stepAll(PolicySet policies, List<Policy> underWay) {
		RuntimeException failure = null;
		for (Policy policy : underWay) {
			try {
				step(policies, policy);
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	/** One in shadow is for nobody, so it has no stage yet; nor has one from YAML. */
	private static boolean isUnderWay(Policy policy) {
		Rollout rollout = policy.settings().rollout();
		return policy.version() > 0 && !policy.settings().shadow() && !rollout.stages().isEmpty()
				&& rollout.percent() < 100;
	}

	private void step(PolicySet policies, Policy policy) {
		RecordVersion newest = this.control.find(RecordIds.policy(policy.id()));
		if (newest == null || newest.version() != policy.version()) {
			return;
		}
		Rollout rollout = policy.settings().rollout();
		RolloutStep step = RolloutStep.of(rollout, newest.time(), this.tallies.find(policies, policy.id()),
				this.clock.instant());
		try {
			switch (step.kind()) {
				case STAY -> {
				}
				case ADVANCE -> advance(newest, rollout, step);
				case ROLL_BACK -> rollBack(newest, step);
			}
		}
		catch (CompletionException ex) {
			if (!(ex.getCause() instanceof ConflictException)) {
				throw ex;
			}
			logger.debug("Policy '{}' was changed by somebody else meanwhile", policy.id());
		}
	}

	private void advance(RecordVersion newest, Rollout rollout, RolloutStep step) {
		Author author = new Author(ACTOR, step.reason());
		RecordVersion written = done(this.control.writeAgain(newest.key().id(),
				RolloutStep.at(step.percent(), ControlPlane.document(newest), rollout), newest.version(), author));
		logger.info("Policy '{}', version {}: {}", newest.key().id(), written.version(), step.reason());
		tell(newest, written, false, author);
	}

	private void rollBack(RecordVersion newest, RolloutStep step) {
		Documents.Previous previous = Documents.policy(newest.body()).previous();
		if (previous == null) {
			return;
		}
		String id = newest.key().id();
		Author author = new Author(ACTOR, step.reason());
		// What is configured comes back by itself when nothing stands before it.
		CompletionStage<RecordVersion> write = (previous.version() == 0)
				? this.control.rollBack(id, 0, newest.version(), author)
				: this.control.writeAgain(id, previous.document(), newest.version(), author);
		RecordVersion written = done(write);
		logger.warn("Policy '{}', version {}, was {}; version {} is in force for everybody again", id, newest.version(),
				step.reason(), previous.version());
		tell(newest, written, true, author);
	}

	private void tell(RecordVersion before, RecordVersion after, boolean back, Author author) {
		RolloutListener.Event event = new RolloutListener.Event(after.key().id(), back, before.version(),
				after.version(), author);
		for (RolloutListener listener : this.listeners) {
			try {
				listener.changed(event);
			}
			catch (RuntimeException ex) {
				logger.warn("A listener of rollouts failed", ex);
			}
		}
	}

	private void run() {
		boolean failing = false;
		try {
			while (!this.ended.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
				try {
					look();
					failing = false;
				}
				catch (RuntimeException ex) {
					if (!failing && this.ended.getCount() > 0) {
						logger.debug("A rollout cannot go on", ex);
						logger.warn("Not every rollout can go on or be taken back until the store of policies answers");
					}
					failing = true;
				}
			}
		}
		catch (InterruptedException ex) {
			logger.debug("Rollouts are not looked at any more");
		}
	}

	private static <T> T done(CompletionStage<T> stage) {
		return stage.toCompletableFuture().copy().orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
	}

}
