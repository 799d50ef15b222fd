package dev.ratelimit.autoconfigure;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.control.Configuration;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * A record waits if its windows do not fit one counter together with those of other
 * records, or if something on this instance names a policy that cannot decide for it. It
 * is tried again when these change.
 */
@ExtendWith(OutputCaptureExtension.class)
class RejectedRecordsTests {

	private static final List<String> NINE = List.of("1s", "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s");

	private static final String BY_USER = "{\"policy\": {\"limits\": {\"all\": {\"by\": \"user\", \"quota\": \"3/s\"}}}}";

	private final Policies policies = new Policies(
			PolicySet.of(Policy.of("orders", Algorithm.GCRA, Limit.of("all", List.of(), "5/s"))));

	private final LivePolicies live = new LivePolicies(this.policies, this.policies::replace,
			new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null)), (key) -> List.of());

	private long revision;

	@Test
	void overrideThatDidNotFitIsInForceOnceAnotherIsDeleted() {
		NINE.forEach((window) -> override("of-" + window, window));
		override("late", "10s");
		assertThat(this.live.rejected()).extracting(Rejected::key).containsExactly(key("late"));
		delete(key("of-9s"));
		assertThat(this.live.rejected()).isEmpty();
	}

	@Test
	void overrideThatDidNotFitStaysOutWhileNothingOfItsPolicyChanges() {
		NINE.forEach((window) -> override("of-" + window, window));
		override("late", "10s");
		delete(RecordIds.override("others", Dimension.TENANT, "of-9s"));
		assertThat(this.live.rejected()).hasSize(1);
	}

	@Test
	void policyThatDidNotFitIsInForceOnceTheOverrideInItsWayIsDeleted() {
		NINE.forEach((window) -> override("of-" + window, window));
		write(RecordIds.policy("orders"),
				"{\"policy\": {\"limits\": {\"all\": {\"by\": [], \"quota\": [\"5/s\", \"50/m\"]}}}}");
		assertThat(this.live.rejected()).hasSize(1);
		assertThat(this.policies.get().find("orders").version()).isZero();
		delete(key("of-9s"));
		assertThat(this.live.rejected()).isEmpty();
		assertThat(this.policies.get().find("orders").version()).isOne();
	}

	@Test
	void configuredPolicyThatDoesNotFitIsShownAndInForceOnceTheOverrideInItsWayIsDeleted() {
		NINE.forEach((window) -> override("of-" + window, window));
		configure("5/s", "50/m");
		assertThat(this.live.rejected()).extracting(Rejected::key, Rejected::version)
			.containsExactly(tuple(RecordIds.policy("orders"), 0L));
		assertThat(quotas()).isOne();
		delete(key("of-9s"));
		assertThat(this.live.rejected()).isEmpty();
		assertThat(quotas()).isEqualTo(2);
	}

	@Test
	void configuredPolicyThatDoesNotFitIsTriedAgainWithTheNextConfiguration() {
		NINE.forEach((window) -> override("of-" + window, window));
		configure("5/s", "50/m");
		configure("5/s", "50/m");
		assertThat(this.live.rejected()).hasSize(1);
		configure("5/s", "7/9s");
		assertThat(this.live.rejected()).isEmpty();
		assertThat(quotas()).isEqualTo(2);
	}

	@Test
	void configuredPolicyThatDoesNotFitIsInForceOnceItFitsAlthoughTheStoredOneWasDeletedBefore() {
		write(RecordIds.policy("orders"), "{\"policy\": {\"limits\": {\"all\": {\"by\": [], \"quota\": \"3/s\"}}}}");
		NINE.forEach((window) -> override("of-" + window, window));
		configure("5/s", "50/m");
		assertThat(this.live.rejected()).isEmpty();
		delete(RecordIds.policy("orders"));
		assertThat(this.live.rejected()).extracting(Rejected::version).containsExactly(0L);
		configure("5/s", "7/9s");
		assertThat(this.live.rejected()).isEmpty();
		assertThat(this.policies.get().find("orders").version()).isZero();
		assertThat(quotas()).isEqualTo(2);
	}

	@Test
	void configuredPolicyThatDoesNotFitIsNotShownOnceThePolicyIsInTheStore() {
		NINE.forEach((window) -> override("of-" + window, window));
		configure("5/s", "50/m");
		write(RecordIds.policy("orders"), "{\"policy\": {\"limits\": {\"all\": {\"by\": [], \"quota\": \"3/s\"}}}}");
		assertThat(this.live.rejected()).isEmpty();
		delete(key("of-9s"));
		assertThat(this.policies.get().find("orders").version()).isOne();
	}

	@Test
	void configuredPolicyThatDoesNotFitIsNotShownOnceItIsRemoved() {
		NINE.forEach((window) -> override("of-" + window, window));
		configure("5/s", "50/m");
		this.live.configure((before) -> new Configuration(Map.of(), before.allow(), before.deny(), List.of()));
		assertThat(this.live.rejected()).isEmpty();
	}

	@Test
	void versionThatCannotDecideForAPlaceOfThisInstanceIsNotPutInForce(CapturedOutput output) {
		this.live.requireFitting(new WithoutUsers());
		write(RecordIds.policy("orders"), BY_USER);
		assertThat(this.policies.get().find("orders").version()).isZero();
		assertThat(this.live.rejected()).singleElement()
			.returns(RecordIds.policy("orders"), Rejected::key)
			.returns("Limit 'all' counts by user. Let it count by ip.", Rejected::message);
		assertThat(output).contains("Version 1 of policy 'orders' is in the store but not in force; the version before "
				+ "it stays. Limit 'all' counts by user. Let it count by ip.");
	}

	@Test
	void versionForSomeCallersIsNotPutInForceIfTheOneForTheOthersCannotDecide() {
		this.live.requireFitting(new WithoutUsers());
		write(RecordIds.policy("orders"),
				"{\"policy\": {\"limits\": {\"all\": {\"by\": [], \"quota\": \"3/s\"}}, "
						+ "\"rollout\": {\"percent\": 10}}, \"previous\": {\"version\": 1, \"policy\": "
						+ "{\"limits\": {\"all\": {\"by\": \"user\", \"quota\": \"3/s\"}}}}}");
		assertThat(this.live.rejected()).hasSize(1);
		assertThat(this.policies.get().versions("orders")).extracting(Policy::version).containsExactly(0L);
	}

	@Test
	void versionThatCouldNotDecideIsInForceOnceThePlaceIsReloaded() {
		this.live.requireFitting(new WithoutUsers());
		write(RecordIds.policy("orders"), BY_USER);
		this.live.requireFitting((policy) -> List.of());
		reload();
		assertThat(this.live.rejected()).isEmpty();
		assertThat(this.policies.get().find("orders").version()).isOne();
	}

	@Test
	void configuredPolicyThatCannotDecideDoesNotComeBackWhenTheStoredOneIsDeleted(CapturedOutput output) {
		Policy configured = Policy.of("orders", Algorithm.GCRA, Limit.of("all", List.of(Dimension.USER), "9/s"));
		this.live.configure(
				(before) -> new Configuration(Map.of("orders", configured), before.allow(), before.deny(), List.of()));
		write(RecordIds.policy("orders"), "{\"policy\": {\"limits\": {\"all\": {\"by\": [], \"quota\": \"3/s\"}}}}");
		this.live.requireFitting(new WithoutUsers());
		delete(RecordIds.policy("orders"));
		assertThat(this.policies.get().find("orders").version()).isOne();
		assertThat(this.live.rejected()).extracting(Rejected::key, Rejected::version)
			.containsExactly(tuple(RecordIds.policy("orders"), 0L));
		assertThat(output).contains("Policy 'orders' of the configuration is not put in force; the version before it "
				+ "stays. Limit 'all' counts by user. Let it count by ip.");
		this.live.requireFitting((policy) -> List.of());
		reload();
		assertThat(this.live.rejected()).isEmpty();
		assertThat(this.policies.get().find("orders").version()).isZero();
	}

	/** The policies are the same, but what names them may have changed. */
	private void reload() {
		this.live.configure((before) -> new Configuration(before.policies(), before.allow(), before.deny(), List.of()));
	}

	private void configure(String... quotas) {
		Policy policy = Policy.of("orders", Algorithm.GCRA, Limit.of("all", List.of(), quotas));
		this.live.configure(
				(before) -> new Configuration(Map.of("orders", policy), before.allow(), before.deny(), List.of()));
	}

	private int quotas() {
		return this.policies.get().find("orders").limits().get(0).quotas().size();
	}

	private void override(String tenant, String window) {
		write(key(tenant), "{\"limits\": {\"all\": \"5/" + window + "\"}}");
	}

	private static RecordKey key(String tenant) {
		return RecordIds.override("orders", Dimension.TENANT, tenant);
	}

	private void delete(RecordKey key) {
		write(key, null);
	}

	private void write(RecordKey key, @Nullable String body) {
		this.live.changed(new ArrayList<>(
				List.of(new RecordVersion(key, 1, ++this.revision, body, "ann", Instant.EPOCH, "a test"))));
	}

	/** A place that does not know users. */
	static final class WithoutUsers implements PolicyUses {

		@Override
		public List<String> of(String policy) {
			return List.of();
		}

		@Override
		public void requireFitting(Policy policy) {
			if (policy.limits().stream().anyMatch((limit) -> limit.by().contains(Dimension.USER))) {
				throw new InvalidChangeException("policy.limits.all.by", "Limit 'all' counts by user.",
						"Let it count by ip.");
			}
		}

	}

}
