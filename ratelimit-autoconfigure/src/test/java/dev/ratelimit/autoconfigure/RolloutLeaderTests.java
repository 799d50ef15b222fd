package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Snapshot;

import static org.assertj.core.api.Assertions.assertThat;
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
		one.look();
		this.store.pass(HOLD.minusSeconds(1));
		one.look();
		assertThat(one.percent()).isOne();
		this.store.pass(Duration.ofSeconds(1));
		one.look();
		assertThat(one.percent()).isEqualTo(10);
		one.look();
		assertThat(one.percent()).isEqualTo(10);
		this.store.pass(HOLD);
		one.look();
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
		one.look();
		one.replica.close();
		this.store.pass(HOLD.minusSeconds(1));
		Instance other = instance("other");
		other.settle();
		other.look();
		assertThat(other.percent()).isEqualTo(10);
		this.store.pass(Duration.ofSeconds(1));
		other.look();
		assertThat(other.percent()).isEqualTo(100);
	}

	@Test
	void onlyOneInstanceLeads() {
		Instance one = instance("one");
		Instance other = instance("other");
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.look();
		this.store.pass(Duration.ofSeconds(4));
		one.look();
		other.settle();
		this.store.lead("rollout", "one", HOLD.multipliedBy(2));
		this.store.pass(HOLD);
		other.look();
		assertThat(history()).hasSize(1);
		one.look();
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
		one.look();
		assertThat(history()).hasSize(2);
		twin.leader.look();
		assertThat(history()).hasSize(2);
		assertThat(this.events).hasSize(1);
	}

	@Test
	void versionThatRefusesFarMoreIsTakenBack() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.decide(1, 1_000, 10);
		one.decide(2, 300, 150);
		one.look();
		assertThat(history().get(0).reason())
			.isEqualTo("rolled back at 1 %: refuses 50.0 % of 300, the version before 1.0 % of 1000");
		assertThat(ControlPlane.document(history().get(0))).isEqualTo(ControlPlane.document(history().get(2)));
		assertThat(this.events).extracting(RolloutListener.Event::rolledBack).containsExactly(true);
		this.store.pass(HOLD);
		one.look();
		assertThat(history()).hasSize(3);
	}

	@Test
	void whatAStageBeforeDecidedDoesNotCount() {
		Instance one = instance("one");
		one.write(Map.of());
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.decide(1, 1_000, 100);
		one.decide(2, 300, 30);
		this.store.pass(HOLD);
		one.look();
		RolloutState state = one.leader.state("orders");
		assertThat(state.counts().next().decisions()).isZero();
		assertThat(state.counts().previous().decisions()).isZero();
		assertThat(state.stage()).isEqualTo(2);
		assertThat(state.previous()).isOne();
	}

	@Test
	void whatSomebodyWritesEndsTheRollout() {
		Instance one = instance("one");
		one.write(Map.of("stages", List.of(1, 10, 100), "hold", "10m"));
		one.write(Map.of());
		this.store.pass(HOLD);
		one.look();
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

	@Test
	void stagesInTheConfigurationAreWarnedAbout() {
		PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), null));
		assertThat(PolicyWarnings.warnings(reader.policy("orders", 0, document(Map.of("stages", List.of(1, 100))))))
			.singleElement()
			.asString()
			.contains("stays at its 100 %");
	}

	private Instance instance(String name) {
		Instance instance = new Instance(name);
		this.instances.add(instance);
		return instance;
	}

	private List<RecordVersion> history() {
		return ControlPlaneIntegrationTests.done(this.store.history(RecordIds.policy("orders"), 100));
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
			PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), null));
			LivePolicies live = new LivePolicies(this.policies, this.policies::replace, reader, (key) -> List.of());
			TimedStore store = RolloutLeaderTests.this.store;
			this.replica = new Replica(store, Snapshot.NONE, live::changed);
			this.replica.start();
			this.control = new ControlPlane(store, this.replica, live, reader, (policy) -> List.of());
			this.leader = new RolloutLeader(store, this.control, live, null, name, store,
					List.of(RolloutLeaderTests.this.events::add));
		}

		void write(Map<String, Object> rollout) {
			ControlPlaneIntegrationTests.done(this.control.writePolicy("orders", document(rollout), null, ANN));
			settle();
		}

		void look() {
			this.leader.look();
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

		void decide(long version, int decisions, int refusals) {
			Comparison comparison = this.policies.get().comparison("orders");
			Request request = Request.of("orders");
			for (int i = 0; i < decisions; i++) {
				comparison.decided(Decision.without(request, version, i >= refusals,
						(i < refusals) ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED, Decision.Reason.LIMITS));
			}
		}

	}

}
