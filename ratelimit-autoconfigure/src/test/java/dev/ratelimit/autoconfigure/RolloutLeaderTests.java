package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Receipt;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the leader of rollouts does as time passes.
 */
class RolloutLeaderTests {

	private static final Author ANN = new Author("ann", "because");

	private static final Duration HOLD = Duration.ofMinutes(10);

	private final TimedStore store = new TimedStore();

	private final List<RolloutListener.Event> events = new ArrayList<>();

	private final List<Instance> instances = new ArrayList<>();

	@AfterEach
	void end() {
		this.instances.forEach((instance) -> instance.replica.close());
	}

	@Test
	void stagesFollowEachOtherAfterTheHold() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		assertThat(one.percent()).isOne();
		one.stepRollouts();
		this.store.pass(HOLD.minusSeconds(1));
		one.stepRollouts();
		assertThat(one.percent()).isOne();
		this.store.pass(Duration.ofSeconds(1));
		one.compare(64, 0);
		one.stepRollouts();
		assertThat(one.percent()).isEqualTo(10);
		one.compare(64, 0);
		one.stepRollouts();
		assertThat(one.percent()).isEqualTo(10);
		this.store.pass(HOLD);
		one.stepRollouts();
		assertThat(one.percent()).isEqualTo(100);
		assertThat(one.leader.state("orders")).isNull();
		assertThat(history()).extracting(RecordVersion::actor).containsExactly("rollout", "rollout", "ann", "ann");
		assertThat(this.events).extracting(RolloutListener.Event::after).containsExactly(3L, 4L);
	}

	@Test
	void newLeaderGoesOnWhereTheLastOneWas() {
		Instance one = instance("one");
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		this.store.pass(HOLD);
		one.stepRollouts();
		one.replica.close();
		this.store.pass(HOLD.minusSeconds(1));
		Instance other = instance("other");
		other.settle();
		other.stepRollouts();
		assertThat(other.percent()).isEqualTo(10);
		this.store.pass(Duration.ofSeconds(1));
		other.stepRollouts();
		assertThat(other.percent()).isEqualTo(100);
	}

	@Test
	void onlyOneInstanceLeads() {
		Instance one = instance("one");
		Instance other = instance("other");
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.stepRollouts();
		this.store.pass(Duration.ofSeconds(4));
		one.stepRollouts();
		other.settle();
		this.store.lead("rollout", "one", HOLD.multipliedBy(2));
		this.store.pass(HOLD);
		other.stepRollouts();
		assertThat(history()).hasSize(1);
		one.stepRollouts();
		assertThat(history()).hasSize(2);
	}

	@Test
	void twoThatThinkTheyLeadWriteOnce() {
		Instance one = instance("one");
		Instance twin = instance("one");
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		twin.settle();
		this.store.pass(HOLD);
		twin.replica.close();
		one.stepRollouts();
		assertThat(history()).hasSize(2);
		twin.leader.stepRollouts();
		assertThat(history()).hasSize(2);
		assertThat(this.events).hasSize(1);
	}

	@Test
	void versionThatRefusesFarMoreIsTakenBack() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.compare(64, 50);
		one.stepRollouts();
		assertThat(history().get(0).reason())
			.isEqualTo("rolled back at 1 %: refuses 50.0 percentage points more than the version before (of 6400 "
					+ "requests that both decided, only the new one refused 3200, only the old one 0), by instance one");
		assertThat(ControlPlane.document(history().get(0))).isEqualTo(ControlPlane.document(history().get(2)));
		assertThat(this.events).extracting(RolloutListener.Event::rolledBack).containsExactly(true);
		this.store.pass(HOLD);
		one.stepRollouts();
		assertThat(history()).hasSize(3);
	}

	@Test
	void expectedRefusalsAreWrittenWithTheNextStage() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m", "expect-refusals", 50));
		one.compare(64, 50);
		one.stepRollouts();
		assertThat(one.leader.state("orders").judgement()).isEqualTo(RolloutState.Judgement.JUDGED);
		this.store.pass(HOLD);
		one.stepRollouts();
		assertThat(one.percent()).isEqualTo(10);
		assertThat(one.policies.get().find("orders").settings().rollout().expectRefusals()).isEqualTo(50);
	}

	@Test
	void stageWithFewCallersDoesNotGoOnByItself() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.compare(15, 0);
		this.store.pass(HOLD.minusMillis(1));
		assertThat(one.leader.state("orders").judgement()).isEqualTo(RolloutState.Judgement.COLLECTING);
		this.store.pass(HOLD.multipliedBy(10));
		one.stepRollouts();
		assertThat(history()).hasSize(2);
		assertThat(one.leader.state("orders").judgement()).isEqualTo(RolloutState.Judgement.TOO_FEW_CALLERS);
		one.compare(16, 0);
		one.stepRollouts();
		assertThat(one.percent()).isEqualTo(10);
	}

	@Test
	void stageThatHasNotStartedOrIsTheLastWaitsForNobody() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 100), "hold", "10m", "valid-from",
				this.store.instant().plus(HOLD).toString()));
		this.store.pass(HOLD.multipliedBy(2).minusMillis(1));
		assertThat(one.leader.state("orders").judgement()).isEqualTo(RolloutState.Judgement.COLLECTING);
		one.write(Map.of("stages", List.of(1, 50), "hold", "10m", "percent", 50));
		this.store.pass(HOLD.multipliedBy(2));
		assertThat(one.leader.state("orders").judgement()).isEqualTo(RolloutState.Judgement.COLLECTING);
	}

	@Test
	void stageThatIsShorterThanAllWindowsDoesNotGoOnByItself() {
		Instance one = instance("one");
		one.write(Map.of());
		Map<String, Object> document = document(Map.of("stages", List.of(1, 100), "hold", "1s"));
		document.put("limits", Map.of("per-tenant", Map.of("by", "tenant", "quota", "5/m")));
		join(one.control.writePolicy("orders", Map.of("limits", document.get("limits")), null, ANN));
		join(one.control.writePolicy("orders", document, null, ANN));
		one.settle();
		this.store.pass(HOLD);
		one.stepRollouts();
		assertThat(history()).hasSize(3);
		assertThat(one.leader.state("orders").judgement()).isEqualTo(RolloutState.Judgement.WINDOWS_TOO_LONG);
	}

	@Test
	void leaderThatCannotRollBackLetsAnotherOneLead() {
		Instance one = instance("one");
		Instance other = instance("other");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		other.settle();
		one.stepRollouts();
		one.compare(64, 50);
		other.compare(64, 50);
		other.stepRollouts();
		assertThat(history()).hasSize(2);
		this.store.goAway();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one.leader::stepRollouts);
		this.store.comeBack();
		other.stepRollouts();
		assertThat(history()).hasSize(3);
		assertThat(this.events).hasSize(1);
		one.stepRollouts();
		assertThat(history()).hasSize(3);
		assertThat(this.events).hasSize(1);
	}

	@Test
	void onlyAnInstanceThatCanWriteIsShownAsLeader() {
		Instance one = instance("one");
		Instance other = instance("other");
		one.write(Map.of());
		one.stepRollouts();
		assertThat(one.leader.active()).isZero();
		assertThat(one.leader.leads()).isFalse();
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		other.settle();
		one.stepRollouts();
		other.stepRollouts();
		assertThat(other.leader.active()).isOne();
		assertThat(one.leader.leads()).isTrue();
		assertThat(other.leader.leads()).isFalse();
		one.compare(64, 50);
		this.store.goAway();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one.leader::stepRollouts);
		assertThat(one.leader.leads()).isFalse();
		assertThat(one.leader.active()).isOne();
		this.store.comeBack();
		other.stepRollouts();
		assertThat(other.leader.leads()).isTrue();
	}

	@Test
	void leaderThatIsAloneLeadsAgainAfterAWhile() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.compare(64, 50);
		this.store.goAway();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one.leader::stepRollouts);
		this.store.comeBack();
		for (int i = 0; i < 3; i++) {
			one.stepRollouts();
			assertThat(history()).hasSize(2);
		}
		one.stepRollouts();
		assertThat(history()).hasSize(3);
		assertThat(this.events).hasSize(1);
	}

	@Test
	void rollbackWithoutAnAnswerIsLookedUpAndReported() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.compare(64, 50);
		this.store.loseAnswers(true);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one.leader::stepRollouts);
		assertThat(history()).hasSize(3);
		assertThat(this.events).isEmpty();
		this.store.loseAnswers(false);
		one.settle();
		one.stepRollouts();
		one.stepRollouts();
		assertThat(this.events).hasSize(1);
		assertThat(this.events.get(0).rolledBack()).isTrue();
		assertThat(this.events.get(0).before()).isEqualTo(2);
		assertThat(this.events.get(0).after()).isEqualTo(3);
		assertThat(this.events.get(0).author().reason()).isEqualTo(history().get(0).reason());
	}

	@Test
	void firstOfTwoAttemptsWithoutAnAnswerThatHappensLateIsReported() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.compare(64, 50);
		this.store.goAway();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one.leader::stepRollouts);
		one.compare(64, 100);
		for (int i = 0; i < 3; i++) {
			one.leader.stepRollouts();
		}
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one.leader::stepRollouts);
		this.store.comeBack();
		String reason = "rolled back at 1 %: refuses 50.0 percentage points more than the version before (of 6400 "
				+ "requests that both decided, only the new one refused 3200, only the old one 0), by instance one";
		join(this.store.write(List.of(new Edit(RecordIds.policy("orders"), history().get(1).body(), 2L)), Seen.NOTHING,
				"rollout", reason));
		one.settle();
		one.stepRollouts();
		one.stepRollouts();
		assertThat(this.events).extracting((event) -> event.author().reason()).containsExactly(reason);
	}

	@Test
	void versionThatSomebodyElseWroteInPlaceOfALostOneIsNotReported() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.compare(64, 50);
		this.store.goAway();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one.leader::stepRollouts);
		this.store.comeBack();
		one.write(Map.of());
		one.stepRollouts();
		assertThat(history().get(0).actor()).isEqualTo("ann");
		assertThat(this.events).isEmpty();
	}

	@Test
	void whatAStageBeforeDecidedDoesNotCount() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.compare(64, 0);
		this.store.pass(HOLD);
		one.stepRollouts();
		RolloutState state = one.leader.state("orders");
		assertThat(state.counts().buckets()).hasSize(64).allMatch((bucket) -> bucket.decisions() == 0);
		assertThat(state.judgement()).isEqualTo(RolloutState.Judgement.COLLECTING);
		assertThat(state.stage()).isEqualTo(2);
		assertThat(state.previous()).isOne();
	}

	@Test
	void whatSomebodyWritesEndsTheRollout() {
		Instance one = instance("one");
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.write(Map.of());
		this.store.pass(HOLD);
		one.stepRollouts();
		assertThat(history()).hasSize(2);
	}

	@Test
	void versionInShadowWithStagesIsNotWritten() {
		Instance one = instance("one");
		one.write(Map.of());
		Map<String, Object> document = document(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		document.put("mode", "shadow");
		assertThat(one.control.writePolicy("orders", document, null, ANN).toCompletableFuture())
			.failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.withMessageContaining("is in shadow and has rollout stages");
		assertThat(history()).hasSize(1);
	}

	private Instance instance(String name) {
		Instance instance = new Instance(name);
		this.instances.add(instance);
		return instance;
	}

	private List<RecordVersion> history() {
		return join(this.store.history(RecordIds.policy("orders"), 100));
	}

	private static Map<String, Object> document(Map<String, Object> rollout) {
		Map<String, Object> document = new HashMap<>(
				Map.of("limits", Map.of("per-tenant", Map.of("by", "tenant", "quota", "5/s"))));
		if (!rollout.isEmpty()) {
			document.put("rollout", rollout);
		}
		return document;
	}

	/**
	 * What an instance has of the control plane.
	 */
	private final class Instance {

		private final Policies policies = new Policies(PolicySet.of());

		private final Replica replica;

		private final ControlPlane control;

		private final RolloutLeader leader;

		Instance(String name) {
			PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));
			LivePolicies live = new LivePolicies(this.policies, this.policies::replace, reader, (key) -> List.of());
			TimedStore store = RolloutLeaderTests.this.store;
			this.replica = new Replica(store, Snapshot.NONE, live::changed, System::nanoTime);
			this.replica.start();
			this.control = new ControlPlane(store, this.replica, live, reader, (policy) -> List.of());
			this.leader = new RolloutLeader(store, this.control, live, name,
					List.of(RolloutLeaderTests.this.events::add), store);
		}

		void write(Map<String, Object> rollout) {
			join(this.control.writePolicy("orders", document(rollout), null, ANN));
			settle();
		}

		void stepRollouts() {
			this.leader.stepRollouts();
			settle();
		}

		/** Until what is written is in force. */
		void settle() {
			await().until(() -> this.policies.get().find("orders") != null
					&& this.policies.get().find("orders").version() == history().get(0).version());
		}

		int percent() {
			return this.policies.get().find("orders").settings().rollout().percent();
		}

		/**
		 * 100 requests in each of some buckets, of which only the new version refuses
		 * some.
		 */
		void compare(int buckets, int refused) {
			Comparison comparison = this.policies.get().comparison("orders");
			for (int i = 0; i < 100 * buckets; i++) {
				comparison.compared(i % buckets, decision(0), decision((i / buckets < refused) ? 1 : 0));
			}
		}

		private Decision decision(long retryAfterMicros) {
			Limit limit = this.policies.get().find("orders").limits().get(0);
			LimitStatus status = new LimitStatus(limit, limit.quotas().get(0), 0, 1, retryAfterMicros, 1);
			boolean allowed = retryAfterMicros == 0;
			return new Decision("orders", 0, allowed, allowed ? Decision.Outcome.ALLOWED : Decision.Outcome.REFUSED,
					Decision.Reason.LIMITS, Decision.Source.REDIS, false, null, 1, allowed ? 1 : 0, List.of(status),
					Receipt.NOTHING);
		}

	}

}
