package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.ratelimit.Policy;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A version that replaces one that something on this instance cannot use, and that is not
 * for all callers at once: an older version decides for the others.
 */
class RepairedVersionTests {

	private static final Author ANN = new Author("ann", "a repair");

	private static final String BY_USER = "{\"policy\": {\"limits\": {\"all\": {\"by\": \"user\", \"quota\": \"3/s\"}}}}";

	private final TimedStore store = new TimedStore();

	private final PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));

	private final Policies policies = new Policies(PolicySet.of());

	private final LivePolicies live = new LivePolicies(this.policies, this.policies::replace, this.reader,
			(key) -> List.of());

	private final Replica replica = new Replica(this.store, Snapshot.NONE, this.live::changed, this.store::nanos);

	private final PolicyUses uses = new RejectedRecordsTests.WithoutUsers();

	private final ControlPlane control = new ControlPlane(this.store, this.replica, this.live, this.reader, this.uses);

	@BeforeEach
	void start() {
		this.replica.start();
	}

	@AfterEach
	void end() {
		this.replica.close();
	}

	static Stream<Map<String, Object>> notForAll() {
		return Stream.of(Map.of("rollout", Map.of("percent", 10)),
				Map.of("rollout", Map.of("stages", List.of(10, 100))),
				Map.of("rollout", Map.of("valid-from", "2100-01-01T00:00:00Z")), Map.of("mode", "shadow"));
	}

	@ParameterizedTest
	@MethodSource("notForAll")
	void repairIsInForceBesideTheVersionBeforeTheRejectedOne(Map<String, Object> rollout) {
		this.live.requireFitting(this.uses);
		join(this.control.writePolicy("orders", byIp(Map.of()), null, ANN));
		await().atMost(Duration.ofMinutes(1)).until(() -> versions().equals(List.of(1L)));
		writeElsewhere(BY_USER);
		await().atMost(Duration.ofMinutes(1)).until(() -> this.live.rejected().size() == 1);
		RecordVersion repair = join(this.control.writePolicy("orders", byIp(rollout), null, ANN));
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(versions()).containsExactly(3L, 1L));
		assertThat(this.live.rejected()).isEmpty();
		assertThat(ControlPlane.previous(repair)).containsEntry("version", 1L);
	}

	@ParameterizedTest
	@MethodSource("notForAll")
	void repairOfARejectedRolloutIsInForceBesideTheVersionBeforeIt(Map<String, Object> rollout) {
		this.live.requireFitting(this.uses);
		join(this.control.writePolicy("orders", byIp(Map.of()), null, ANN));
		await().atMost(Duration.ofMinutes(1)).until(() -> versions().equals(List.of(1L)));
		writeElsewhere("{\"policy\": {\"limits\": {\"all\": {\"by\": \"ip\", \"quota\": \"3/s\"}}, "
				+ "\"rollout\": {\"percent\": 10}}, \"previous\": {\"version\": 1, " + BY_USER.substring(1) + '}');
		await().atMost(Duration.ofMinutes(1)).until(() -> this.live.rejected().size() == 1);
		join(this.control.writePolicy("orders", byIp(rollout), null, ANN));
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(versions()).containsExactly(3L, 1L));
		assertThat(this.live.rejected()).isEmpty();
	}

	@Test
	void repairForSomeCallersIsRefusedIfTheVersionInForceDoesNotFitEither() {
		writeElsewhere(BY_USER);
		await().atMost(Duration.ofMinutes(1)).until(() -> versions().equals(List.of(1L)));
		assertThat(this.control.writePolicy("orders", byIp(Map.of("mode", "shadow")), null, ANN).toCompletableFuture())
			.failsWithin(Duration.ofMinutes(1))
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(InvalidChangeException.class,
					(refusal) -> assertThat(refusal.problem())
						.isEqualTo("The version in force would decide for the other callers, but does not fit. "
								+ "Limit 'all' counts by user."));
		join(this.control.writePolicy("orders", byIp(Map.of()), null, ANN));
		await().atMost(Duration.ofMinutes(1)).until(() -> versions().equals(List.of(2L)));
	}

	private List<Long> versions() {
		return this.policies.get().versions("orders").stream().map(Policy::version).toList();
	}

	/** On an instance where nothing names the policy. */
	private void writeElsewhere(String body) {
		join(this.store.write(List.of(new Edit(RecordIds.policy("orders"), body, null)), Seen.NOTHING, "bob", ""));
	}

	private static Map<String, Object> byIp(Map<String, Object> more) {
		Map<String, Object> policy = new HashMap<>(more);
		policy.put("limits", Map.of("all", Map.of("by", "ip", "quota", "4/s")));
		return policy;
	}

}
