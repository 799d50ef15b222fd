package dev.ratelimit.policy;

import java.time.InstantSource;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Tier;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class CallerRecordsTests {

	private static final Request ACME = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.USER, "ann")
		.with(Dimension.API_KEY, "k1");

	private final CallerRecords records = new CallerRecords();

	private final PolicySet policies = policies(orders());

	@Test
	void overrideBeatsTheTierForTheLimitsThatItNamesUntilItIsRemoved() {
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "77/s"), 1);
		assertThat(quotas(ACME.withTier("pro"))).containsExactly("77/s", "500/s");
		assertThat(quotas(ACME.with(Dimension.TENANT, "other"))).containsExactly("10/s", "100/s");
		this.records.removeOverride("orders", Dimension.TENANT, "acme");
		assertThat(quotas(ACME.withTier("pro"))).containsExactly("10/s", "500/s");
	}

	@Test
	void recordIsLaterThanAConfiguredOverrideOfAsManyDimensions() {
		PolicySet policies = policies(orders().override(override(Map.of(Dimension.USER, "ann"), "1/s")));
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "2/s"), 1);
		assertThat(quotas(policies, ACME)).containsExactly("2/s", "100/s");
	}

	@Test
	void configuredOverrideOfMoreDimensionsBeatsARecord() {
		PolicySet policies = policies(
				orders().override(override(Map.of(Dimension.TENANT, "acme", Dimension.USER, "ann"), "1/s")));
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "2/s"), 1);
		assertThat(quotas(policies, ACME)).containsExactly("1/s", "100/s");
	}

	@Test
	void ofTwoRecordsTheLaterOneHoldsWhateverTheOrderOfArrival() {
		this.records.putOverride("orders", Dimension.USER, "ann", quotas("per-user", "2/s"), 8);
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "1/s"), 7);
		assertThat(quotas(ACME)).containsExactly("2/s", "100/s");
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "3/s"), 9);
		assertThat(quotas(ACME)).containsExactly("3/s", "100/s");
	}

	@Test
	void laterRecordOfOneLimitLeavesTheOtherToAnEarlierOne() {
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-tenant", "1/s"), 1);
		this.records.putOverride("orders", Dimension.USER, "ann", quotas("per-user", "2/s"), 2);
		assertThat(quotas(ACME)).containsExactly("2/s", "1/s");
	}

	@Test
	void unverifiedFactSelectsNoRecord() {
		this.records.putOverride("orders", Dimension.API_KEY, "k1", quotas("per-user", "77/s"), 1);
		this.records.putTier(Dimension.API_KEY, "k1", "pro", 2);
		this.records.addAllowed(Map.of(Dimension.API_KEY, "k1"));
		Request claimed = ACME.withUnverified(Dimension.API_KEY, "k1");
		assertThat(quotas(ACME)).containsExactly("77/s", "500/s");
		assertThat(quotas(claimed)).containsExactly("10/s", "100/s");
		assertThat(this.policies.allows(ACME)).isTrue();
		assertThat(this.policies.allows(claimed)).isFalse();
	}

	@Test
	void unverifiedFactIsDenied() {
		this.records.addDenied(Map.of(Dimension.API_KEY, "k*"));
		assertThat(this.policies.denies(ACME.withUnverified(Dimension.API_KEY, "k1"))).isTrue();
		this.records.removeDenied(Map.of(Dimension.API_KEY, "k*"));
		assertThat(this.policies.denies(ACME)).isFalse();
	}

	@Test
	void assignedTierComesBeforeTheClaim() {
		this.records.putTier(Dimension.TENANT, "acme", "pro", 1);
		assertThat(quotas(ACME)).containsExactly("10/s", "500/s");
		assertThat(quotas(ACME.withTier("basic"))).containsExactly("10/s", "500/s");
		this.records.removeTier(Dimension.TENANT, "acme");
		assertThat(quotas(ACME.withTier("basic"))).containsExactly("10/s", "50/s");
		assertThat(quotas(ACME)).containsExactly("10/s", "100/s");
	}

	@Test
	void ofTwoAssignedTiersTheLaterOneHolds() {
		this.records.putTier(Dimension.TENANT, "acme", "pro", 4);
		this.records.putTier(Dimension.API_KEY, "k1", "basic", 3);
		assertThat(quotas(ACME)).containsExactly("10/s", "500/s");
		this.records.putTier(Dimension.API_KEY, "k1", "basic", 5);
		assertThat(quotas(ACME)).containsExactly("10/s", "50/s");
	}

	@Test
	void specOfARecordIsTheSameObjectForEveryRequest() {
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "77/s"), 1);
		CounterSpec first = spec(this.policies, ACME);
		assertThat(spec(this.policies, ACME.withTier("pro"))).isSameAs(first);
		PolicySet changedElsewhere = this.policies.mutate()
			.put(Policy.builder("other").limit("all", List.of(), "1/s").build())
			.build();
		assertThat(spec(changedElsewhere, ACME)).isSameAs(first);
	}

	@Test
	void specOfARecordChangesWithTheRecord() {
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "77/s"), 1);
		CounterSpec first = spec(this.policies, ACME);
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "78/s"), 2);
		assertThat(spec(this.policies, ACME)).isNotSameAs(first);
	}

	@Test
	void newVersionThatLeavesTheLimitAloneKeepsTheSpecOfARecord() {
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "77/s"), 1);
		CounterSpec first = spec(this.policies, ACME);
		PolicySet next = this.policies.mutate().put(orders().version(1).description("new").build()).build();
		assertThat(spec(next, ACME)).isSameAs(first);
	}

	@Test
	void recordThatAVersionHasNoRoomForChangesNothingThere() {
		this.records.putOverride("orders", Dimension.TENANT, "acme", quotas("per-user", "7/s burst 20"), 1);
		this.records.putOverride("orders", Dimension.USER, "ann", quotas("no-such-limit", "7/s"), 2);
		assertThat(quotas(ACME)).containsExactly("7/s burst 20", "100/s");
		PolicySet next = this.policies.mutate().put(orders().algorithm(Algorithm.FIXED_WINDOW).build()).build();
		assertThat(quotas(next, ACME)).containsExactly("10/s", "100/s");
	}

	@Test
	void policySaysWhatOfARecordDoesNotFit() {
		Policy policy = orders().build();
		policy.requireOverride(quotas("per-user", "7/s burst 20"));
		assertThatIllegalArgumentException().isThrownBy(() -> policy.requireOverride(quotas("per-usr", "7/s")))
			.withMessageContaining("'per-usr'")
			.withMessageContaining("per-user");
	}

	@Test
	void listEntriesOfEveryKindComeAndGo() {
		List<Map<Dimension, String>> entries = List.of(Map.of(Dimension.TENANT, "acme"), Map.of(Dimension.USER, "a*"),
				Map.of(Dimension.USER, "*n"), Map.of(Dimension.USER, "a*n"), Map.of(Dimension.TENANT, "*"),
				Map.of(Dimension.IP, "203.0.113.0/24"), Map.of(Dimension.IP, "203.0.113.7"),
				Map.of(Dimension.TENANT, "acme", Dimension.USER, "ann"),
				Map.of(Dimension.TENANT, "acme", Dimension.USER, "*n"),
				Map.of(Dimension.TENANT, "a*", Dimension.IP, "203.0.113.0/24"));
		Request caller = ACME.with(Dimension.IP, "203.0.113.7");
		for (Map<Dimension, String> entry : entries) {
			this.records.addDenied(entry);
			assertThat(this.policies.denies(caller)).as("%s", entry).isTrue();
			assertThat(this.policies.denies(Request.of("orders").with(Dimension.IP, "10.0.0.1"))).isFalse();
			assertThat(this.policies.denies(Request.of("orders"))).isFalse();
			this.records.removeDenied(entry);
			assertThat(this.policies.denies(caller)).as("%s", entry).isFalse();
		}
		assertThat(this.records.size()).isZero();
	}

	@Test
	void removingOneEntryLeavesThoseBesideIt() {
		this.records.addAllowed(Map.of(Dimension.TENANT, "acme", Dimension.USER, "a*"));
		this.records.addAllowed(Map.of(Dimension.TENANT, "acme", Dimension.USER, "b*"));
		this.records.addAllowed(Map.of(Dimension.TENANT, "other"));
		this.records.removeAllowed(Map.of(Dimension.TENANT, "acme", Dimension.USER, "b*"));
		assertThat(this.policies.allows(ACME)).isTrue();
		assertThat(this.policies.allows(ACME.with(Dimension.USER, "bob"))).isFalse();
		assertThat(this.policies.allows(Request.of("orders").with(Dimension.TENANT, "other"))).isTrue();
	}

	@Test
	void entryThatIsNoneIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.records.addDenied(Map.of()))
			.withMessageContaining("at least one dimension");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.records.addDenied(Map.of(Dimension.IP, "10.0.0.1/8")))
			.withMessageContaining("did you mean 10.0.0.0/8");
		assertThat(this.records.size()).isZero();
	}

	@Test
	void dimensionsOfRecordsAreListed() {
		assertThat(this.policies.listedDimensions()).isEmpty();
		this.records.addDenied(Map.of(new Dimension("account"), "7"));
		this.records.putTier(new Dimension("partner"), "x", "pro", 1);
		assertThat(this.policies.listedDimensions()).containsExactlyInAnyOrder(new Dimension("account"),
				new Dimension("partner"));
		assertThat(this.policies.listedDimensions()).isSameAs(this.policies.listedDimensions());
	}

	static PolicySet policies(CallerRecords records, Policy... policies) {
		return new PolicySet(List.of(policies), AccessList.EMPTY, AccessList.EMPTY, records, InstantSource.system());
	}

	private PolicySet policies(PolicyBuilder policy) {
		return policies(this.records, policy.build());
	}

	private static PolicyBuilder orders() {
		return Policy.builder("orders")
			.limit("per-user", List.of(Dimension.TENANT, Dimension.USER), "10/s")
			.limit("per-tenant", List.of(Dimension.TENANT), "100/s")
			.tier("pro", new Tier(quotas("per-tenant", "500/s"), null))
			.tier("basic", new Tier(quotas("per-tenant", "50/s"), null));
	}

	private static Map<String, List<Quota>> quotas(String limit, String quota) {
		return Map.of(limit, List.of(Quota.parse(quota)));
	}

	private static PolicyOverride override(Map<Dimension, String> when, String quota) {
		return new PolicyOverride(when, quotas("per-user", quota));
	}

	private static CounterSpec spec(PolicySet policies, Request request) {
		Match match = policies.match(request);
		assertThat(match).isNotNull();
		return match.specs().get(0);
	}

	private List<String> quotas(Request request) {
		return quotas(this.policies, request);
	}

	private static List<String> quotas(PolicySet policies, Request request) {
		Match match = policies.match(request);
		assertThat(match).isNotNull();
		return match.specs()
			.stream()
			.map(CounterSpec::limit)
			.map(Limit::quotas)
			.flatMap(List::stream)
			.map(Quota::toString)
			.toList();
	}

}
