package dev.ratelimit.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.TimedStore;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.testing.Stages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Policies in the store that an earlier release accepted and that could not be written
 * today.
 */
@ExtendWith(OutputCaptureExtension.class)
class EarlierPoliciesTests {

	private static final String LIMITS = "\"limits\": {\"all\": {\"by\": [], \"quota\": \"%s\"}}";

	private final TimedStore store = new TimedStore();

	private final PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));

	private final Policies policies = new Policies(PolicySet.of());

	private final LivePolicies live = new LivePolicies(this.policies, this.policies::replace, this.reader,
			(key) -> Stages.join(this.store.history(key, 10)));

	private final Replica replica = new Replica(this.store, Snapshot.NONE, this.live::changed, this.store::nanos);

	private final ControlPlane control = new ControlPlane(this.store, this.replica, this.live, this.reader,
			(policy) -> List.of());

	@AfterEach
	void end() {
		this.replica.close();
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', quoteCharacter = '#',
			value = { "\"idempotency\": {\"ttl\": \"10d\"}; idempotency", "\"Penalty\": {\"after\": 6}; Penalty",
					"\"cost\": {\"estimate\": 50}; cost", "\"cost\": 5; cost",
					"\"penalty\": {\"after\": 0}, \"cost\": {\"estimate\": 50}; penalty, cost",
					"\"timeout\": \"5\"; timeout", "\"timeout\": \"10us\"; timeout", "\"timeout\": \"-5ms\"; timeout",
					"\"rollout\": {\"stages\": [100], \"hold\": \"10\"}; rollout.hold",
					"\"rollout\": {\"hold\": \"10ms\"}; rollout.hold",
					"\"overrides\": [{\"when\": {\"ip\": \"10.0.0.0/8\"}, \"limits\": {\"all\": \"9/s\"}}]; overrides",
					"\"costs\": {\"/a%20b\": 5}; costs",
					"\"mode\": \"SHADOW\", \"rollout\": {\"stages\": [1, 100]}; rollout.stages" })
	void versionOfAnEarlierReleaseComesIntoForceWithAWarningThatNamesTheField(String fields, String field,
			CapturedOutput output) {
		write(document("500/s"));
		write("{" + fields + ", " + LIMITS.formatted("5/s") + "}");
		Policy policy = started();
		assertThat(policy.version()).isEqualTo(2);
		assertThat(policy.limits().get(0).quotas().get(0).permits()).isEqualTo(5);
		assertThat(this.live.rejected()).isEmpty();
		assertThat(output).containsOnlyOnce("WARN")
			.contains("Version 2 of policy 'orders'")
			.contains("differently: " + field + ".");
	}

	@Test
	void valuesOfAnEarlierReleaseAreReadAsItReadThemDownToTheirMinimum() {
		write("{\"timeout\": 5, \"rollout\": {\"stages\": [1, 100], \"hold\": \"2000\"}, " + LIMITS.formatted("5/s")
				+ "}");
		Policy policy = started();
		assertThat(policy.settings().timeout()).isEqualTo(Duration.ofMillis(5));
		assertThat(policy.settings().rollout().hold()).isEqualTo(Duration.ofSeconds(2));
		write("{\"timeout\": 0, \"rollout\": {\"stages\": [1, 100], \"hold\": 1}, " + LIMITS.formatted("5/s") + "}");
		await().until(() -> this.policies.get().find("orders").version() == 2);
		policy = this.policies.get().find("orders");
		assertThat(policy.settings().timeout()).isEqualTo(Duration.ofMillis(1));
		assertThat(policy.settings().rollout().hold()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void versionBeforeARolloutMayBeOfAnEarlierReleaseToo(CapturedOutput output) {
		done("{\"policy\": {\"rollout\": {\"percent\": 10}, " + LIMITS.formatted("5/s")
				+ "}, \"previous\": {\"version\": 1, \"policy\": {\"penalty\": {\"after\": 6}, "
				+ LIMITS.formatted("500/s") + "}}}");
		assertThat(started().version()).isOne();
		assertThat(this.live.rejected()).isEmpty();
		assertThat(output).contains("differently: previous.penalty.");
	}

	@Test
	void versionOfAnEarlierReleaseCanBeBroughtBack() throws Exception {
		write("{\"penalty\": {\"after\": 6}, " + LIMITS.formatted("5/s") + "}");
		write(document("500/s"));
		started();
		this.control.rollBack("orders", 1, null, null, new Author("ann", ""))
			.toCompletableFuture()
			.get(10, TimeUnit.SECONDS);
		await().until(() -> this.policies.get().find("orders").version() == 3);
		assertThat(this.policies.get().find("orders").limits().get(0).quotas().get(0).permits()).isEqualTo(5);
	}

	@Test
	void fieldsOfANewerReleaseHaveNoEffectAndAreKeptWhenTheVersionIsWrittenAgain(CapturedOutput output)
			throws Exception {
		write("{\"invented\": {\"a\": 1}, \"limits\": {\"all\": {\"by\": [], \"quota\": \"5/s\", \"novel\": true}}}");
		write(document("500/s"));
		assertThat(started().version()).isEqualTo(2);
		this.control.rollBack("orders", 1, null, null, new Author("ann", ""))
			.toCompletableFuture()
			.get(10, TimeUnit.SECONDS);
		await().until(() -> this.policies.get().find("orders").version() == 3);
		assertThat(this.policies.get().find("orders").limits().get(0).quotas().get(0).permits()).isEqualTo(5);
		assertThat(this.live.rejected()).isEmpty();
		assertThat(output).contains("Version 3 of policy 'orders'")
			.contains("differently: invented, limits.all.novel.");
		assertThat(Stages.join(this.store.history(RecordIds.policy("orders"), 1)).get(0).body())
			.contains("\"invented\":{\"a\":1}")
			.contains("\"novel\":true");
	}

	@Test
	void fieldsOfANewerReleaseInOtherRecordsHaveNoEffect(CapturedOutput output) {
		write(document("500/s"));
		started();
		List<Edit> edits = new ArrayList<>();
		for (String tenant : List.of("acme", "globex", "initech")) {
			String limits = "{\"limits\": {\"all\": \"7/s\"}, \"invented\": 1}";
			edits.add(new Edit(RecordIds.override("orders", Dimension.TENANT, tenant), limits, null));
			edits.add(new Edit(RecordIds.tightening("orders", tenant), limits, null));
			edits.add(new Edit(RecordIds.tier(Dimension.TENANT, tenant), "{\"tier\": \"pro\", \"novel\": 1}", null));
		}
		Stages.join(this.store.write(edits, Seen.NOTHING, "ann", ""));
		Stages.join(this.store.write(edits, Seen.NOTHING, "ann", ""));
		await().until(() -> this.replica.seen().revision() == 19);
		assertThat(this.live.rejected()).isEmpty();
		assertThat(output).containsOnlyOnce("Records of kind override have a field 'invented' that")
			.containsOnlyOnce("Records of kind tenant have a field 'invented' that")
			.containsOnlyOnce("Records of kind tier have a field 'novel' that")
			.doesNotContain("acme");
	}

	@Test
	void unknownFieldIsRefusedWhenItIsSent() {
		Map<String, Object> document = Map.of("invented", 1, "limits",
				Map.of("all", Map.of("by", List.of(), "quota", "5/s")));
		assertThat(this.control.writePolicy("orders", document, null, new Author("ann", "")).toCompletableFuture())
			.failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.havingRootCause()
			.withMessageContaining("There is no field 'policy.invented'");
	}

	@Test
	void sameDocumentIsRefusedWhenItIsWritten() {
		Map<String, Object> document = Map.of("idempotency", Map.of("ttl", "10d"), "limits",
				Map.of("all", Map.of("by", List.of(), "quota", "5/s")));
		assertThat(this.control.writePolicy("orders", document, null, new Author("ann", "")).toCompletableFuture())
			.failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(InvalidChangeException.class)
			.withMessageContaining("Ttl must be 1s to 1d");
	}

	private Policy started() {
		this.replica.start();
		await().until(() -> this.policies.get().find("orders") != null || !this.live.rejected().isEmpty());
		return this.policies.get().find("orders");
	}

	private static String document(String quota) {
		return "{" + LIMITS.formatted(quota) + "}";
	}

	private void write(String document) {
		done("{\"policy\": " + document + "}");
	}

	private void done(String body) {
		Stages
			.join(this.store.write(List.of(new Edit(RecordIds.policy("orders"), body, null)), Seen.NOTHING, "ann", ""));
	}

}
