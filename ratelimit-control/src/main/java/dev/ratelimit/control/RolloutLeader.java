package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Policy;
import dev.ratelimit.Rollout;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Loop;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.RolloutJudge;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordVersion;

/**
 * Advances versions with stages. Every instance adds its counts to those of the fleet,
 * about once a second. One instance, which the store chooses, reads them and writes the
 * next stage, or the previous version if the new one refuses too much. An instance that
 * cannot write a step lets another one lead.
 *
 * <p>
 * Each write expects the version that was judged. So it never undoes an edit made
 * meanwhile, and if two instances both believe that they lead, only one write succeeds.
 */
public final class RolloutLeader implements AutoCloseable {

	/** Actor in the history of a policy. */
	static final String ACTOR = "rollout";

	static final String TASK = "rollout";

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final Duration PAUSE = Duration.ofSeconds(1);

	/** Several pauses, so that one slow answer does not move the task. */
	private static final Duration TERM = Duration.ofSeconds(5);

	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

	/** Characters of an instance's id in reasons. */
	private static final int SHORT_ID = 8;

	/** Turns without asking for the lead after giving it up: others ask every turn. */
	private static final int RESTS = 3;

	private final PolicyStore store;

	private final ControlPlane control;

	private final LivePolicies live;

	private final RolloutTallies tallies;

	private final String instance;

	private final InstantSource clock;

	private final RolloutWrites writes;

	private int rests;

	private volatile int active;

	private volatile boolean leads;

	private final Loop loop = new Loop("ratelimit-rollout", this::turn, () -> {
	}, new FailureLog(logger, "Some rollouts can neither go on nor be taken back until the policy store answers ({})",
			"All rollouts can go on again"));

	/**
	 * Creates one that has not started.
	 * @param clock of this instance, only to show what a stage waits for; steps follow
	 * the store's clock
	 */
	public RolloutLeader(PolicyStore store, ControlPlane control, LivePolicies live, String instance,
			List<RolloutListener> listeners, InstantSource clock) {
		this.store = store;
		this.control = control;
		this.live = live;
		this.tallies = new RolloutTallies(store);
		this.instance = instance;
		this.clock = clock;
		this.writes = new RolloutWrites(control, listeners, ANSWER_TIMEOUT);
	}

	public void start() {
		this.loop.start(PAUSE);
	}

	@Override
	public void close() {
		// Waits for a step that is being written, so that listeners hear of it.
		this.loop.end(ANSWER_TIMEOUT);
	}

	/**
	 * The rollout of a policy, {@code null} if its newest version is for everybody.
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
		RolloutCounts counts = this.tallies.find(policies, id);
		return new RolloutState(policy.version(), (comparison != null) ? comparison.previousVersion() : null,
				rollout.percent(), rollout.stages().indexOf(rollout.percent()) + 1, rollout.stages().size(), since,
				more ? end : null,
				isUnderWay(policy) ? judgement(comparison, counts, more && !this.clock.instant().isBefore(end)) : null,
				counts);
	}

	private static RolloutState.@Nullable Judgement judgement(@Nullable Comparison comparison,
			@Nullable RolloutCounts counts, boolean due) {
		if (comparison == null || counts == null) {
			return null;
		}
		if (!comparison.judges()) {
			return RolloutState.Judgement.WINDOWS_TOO_LONG;
		}
		return RolloutJudge.isEnough(counts.buckets()) ? RolloutState.Judgement.JUDGED
				: due ? RolloutState.Judgement.TOO_FEW_CALLERS : RolloutState.Judgement.COLLECTING;
	}

	/**
	 * Advances or rolls back the rollouts that are due, as the started leader does every
	 * second. Waits for the store.
	 */
	public void stepRollouts() {
		PolicySet policies = this.live.current();
		List<Policy> underWay = policies.policies().stream().filter(RolloutLeader::isUnderWay).toList();
		this.active = underWay.size();
		boolean leads = false;
		try {
			this.tallies.exchange(policies);
			this.writes.lookUp();
			leads = !underWay.isEmpty() && lead(policies, underWay);
		}
		finally {
			this.leads = leads;
		}
	}

	private boolean lead(PolicySet policies, List<Policy> underWay) {
		if (this.rests-- > 0) {
			return false;
		}
		this.rests = 0;
		Instant now = Futures.await(this.store.lead(TASK, this.instance, TERM), ANSWER_TIMEOUT).orElse(null);
		if (now != null) {
			stepAll(policies, underWay, now);
		}
		return now != null;
	}

	/**
	 * Number of rollouts with stages that are under way.
	 */
	public int active() {
		return this.active;
	}

	/**
	 * Whether this instance leads rollouts: in its last turn some were under way, the
	 * store chose it, and it could write.
	 */
	public boolean leads() {
		return this.leads;
	}

	/** A rollout that fails must not stop the others. */
	private void stepAll(PolicySet policies, List<Policy> underWay, Instant now) {
		RuntimeException failure = null;
		for (Policy policy : underWay) {
			try {
				step(policies, policy, now);
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
		}
		if (failure != null) {
			// If this fails too, the term ends by itself.
			this.store.lead(TASK, this.instance, Duration.ZERO);
			this.rests = RESTS;
			throw failure;
		}
	}

	/** A version in shadow has no stage, nor has one of the configuration. */
	private static boolean isUnderWay(Policy policy) {
		Rollout rollout = policy.settings().rollout();
		return policy.version() > 0 && !policy.settings().shadow() && !rollout.stages().isEmpty()
				&& rollout.percent() < 100;
	}

	private void step(PolicySet policies, Policy policy, Instant now) {
		RecordVersion newest = this.control.find(RecordIds.policy(policy.id()));
		if (newest == null || newest.version() != policy.version()) {
			return;
		}
		Rollout rollout = policy.settings().rollout();
		RolloutStep step = RolloutStep.of(rollout, newest.time(), this.tallies.find(policies, policy.id()), now);
		switch (step.kind()) {
			case STAY -> {
			}
			case ADVANCE -> advance(newest, rollout, step);
			case ROLL_BACK -> rollBack(newest, step);
		}
	}

	private void advance(RecordVersion newest, Rollout rollout, RolloutStep step) {
		Author author = author(step);
		this.writes.await(new RolloutWrites.Attempt(newest, false, 0, author, 0),
				this.control.writeAgain(newest.key().id(),
						RolloutStep.at(step.percent(), ControlPlane.document(newest), rollout), newest.version(),
						author));
	}

	private void rollBack(RecordVersion newest, RolloutStep step) {
		Documents.Previous previous = Documents.policy(newest.body()).previous();
		if (previous == null) {
			return;
		}
		String id = newest.key().id();
		Author author = author(step);
		// Without a version in the store the configured one is in force.
		CompletionStage<RecordVersion> write = (previous.version() == 0)
				? this.control.rollBack(id, 0, null, newest.version(), author)
				: this.control.writeAgain(id, previous.document(), newest.version(), author);
		this.writes.await(new RolloutWrites.Attempt(newest, true, previous.version(), author, 0), write);
	}

	/** Names the instance: a lost write must not be taken for that of another one. */
	private Author author(RolloutStep step) {
		String shortId = this.instance.substring(0, Math.min(SHORT_ID, this.instance.length()));
		return new Author(ACTOR, step.reason() + ", by instance " + shortId);
	}

	private Duration turn() {
		stepRollouts();
		return PAUSE;
	}

}
