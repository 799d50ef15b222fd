package dev.ratelimit.policy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What callers that share the counters of a limit have to know of each other.
 */
class PolicyWindowsTests {

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	@Test
	void recordThatSharesCountersChangesHowLongTheirStateMatters() {
		PolicySet policies = PolicySet.of(orders("10/s"));
		CounterSpec spec = spec(policies);
		assertThat(spec.lifetimeMicros()).isEqualTo(2_000_000);
		put(policies, Dimension.USER, "ann", "10/s burst 100");
		assertThat(spec(policies)).isSameAs(spec);
		assertThat(spec.lifetimeMicros()).isEqualTo(20_000_000);
		put(policies, Dimension.USER, "ann", "10/s burst 50");
		assertThat(spec.lifetimeMicros()).isEqualTo(10_000_000);
		policies.records().removeOverride("orders", Dimension.USER, "ann");
		assertThat(spec.lifetimeMicros()).isEqualTo(2_000_000);
	}

	@Test
	void recordOfCountersOfItsOwnChangesNothingForOthers() {
		PolicySet policies = PolicySet.of(orders("10/s"));
		put(policies, Dimension.TENANT, "huge", "1/s burst 90000000");
		assertThat(spec(policies).lifetimeMicros()).isEqualTo(2_000_000);
	}

	@Test
	void overrideOfASharedCounterAlsoKeepsWhatTheOverrideOfTheWholeCounterNeeds() {
		PolicySet policies = PolicySet.of(orders("10/s"));
		Request ann = ACME.with(Dimension.USER, "ann");
		put(policies, Dimension.TENANT, "acme", "10/s burst 1000");
		put(policies, Dimension.TENANT, "globex", "10/s burst 2000");
		policies.records().putOverride("orders", Dimension.USER, "ann", Map.of("per-tenant", quotas("10/s")), 2);
		CounterSpec spec = spec(policies, ann);
		assertThat(spec.limit().quotas()).isEqualTo(quotas("10/s"));
		assertThat(spec.lifetimeMicros()).isEqualTo(200_000_000);
		assertThat(spec(policies, ann)).isSameAs(spec);
		assertThat(spec(policies, ann.with(Dimension.TENANT, "globex")).lifetimeMicros()).isEqualTo(400_000_000);
		assertThat(spec(policies, ann.with(Dimension.TENANT, "other")).lifetimeMicros()).isEqualTo(2_000_000);
		policies.records().removeOverride("orders", Dimension.TENANT, "acme");
		assertThat(spec(policies, ann).lifetimeMicros()).isEqualTo(2_000_000);
	}

	@Test
	void onlyTheOverrideThatTheOtherCallersHaveIsKept() {
		PolicySet policies = PolicySet.of(Policy.builder("orders")
			.limit("per-tenant", List.of(Dimension.TENANT), "10/s")
			.override(new PolicyOverride(Map.of(Dimension.TENANT, "acme"),
					Map.of("per-tenant", quotas("1/s burst 90000000"))))
			.build());
		put(policies, Dimension.TENANT, "acme", "10/s burst 100");
		policies.records().putOverride("orders", Dimension.USER, "ann", Map.of("per-tenant", quotas("10/s")), 2);
		assertThat(spec(policies, ACME.with(Dimension.USER, "ann")).lifetimeMicros()).isEqualTo(20_000_000);
	}

	@Test
	void editKeepsTheSpecOfACallerWithTwoOverrides() {
		PolicySet before = PolicySet.of(orders("10/s"));
		Request ann = ACME.with(Dimension.USER, "ann");
		put(before, Dimension.TENANT, "acme", "10/s burst 100");
		before.records().putOverride("orders", Dimension.USER, "ann", Map.of("per-tenant", quotas("5/s")), 2);
		Policy second = Policy.builder("orders")
			.version(1)
			.limit("per-tenant", List.of(Dimension.TENANT), "10/s")
			.limit("all", List.of(), "5/s")
			.build();
		CounterSpec spec = spec(before, ann);
		assertThat(spec(before.mutate().put(second).build(), ann)).isSameAs(spec);
	}

	@Test
	void recordOfAnAddressSharesTheCounterOfItsNetwork() {
		PolicySet policies = PolicySet
			.of(Policy.builder("orders").limit("per-ip", List.of(Dimension.IP), "10/s").build());
		Request other = Request.of("orders").with(Dimension.IP, "2001:db8::2");
		policies.records()
			.putOverride("orders", Dimension.IP, "2001:db8::1",
					Map.of("per-ip", List.of(Quota.parse("10/s burst 100"))), 1);
		assertThat(policies.match(other).specs().get(0).lifetimeMicros()).isEqualTo(20_000_000);
	}

	@Test
	void overrideOfOneVersionIsKnownToTheOther() {
		Policy first = orders("10/s");
		Policy second = Policy.builder("orders")
			.version(1)
			.limit("per-tenant", List.of(Dimension.TENANT), "10/s")
			.override(new PolicyOverride(Map.of(Dimension.TENANT, "acme"),
					Map.of("per-tenant", List.of(Quota.parse("10/s burst 100")))))
			.build();
		PolicySet policies = PolicySet.of(first);
		CounterSpec spec = spec(policies);
		policies.mutate().put(second.with(Rollout.COMPLETE.withPercent(50)), first).build();
		assertThat(spec.lifetimeMicros()).isEqualTo(20_000_000);
		policies.mutate().put(second).build();
		assertThat(spec.lifetimeMicros()).isEqualTo(2_000_000);
	}

	@Test
	void versionsWithDifferentAlgorithmsShareNoCounters() {
		Policy first = orders("10/100s");
		Policy second = Policy.builder("orders")
			.version(1)
			.algorithm(Algorithm.FIXED_WINDOW)
			.limit("per-tenant", List.of(Dimension.TENANT), "10/699s")
			.build()
			.with(Rollout.COMPLETE.withPercent(50));
		PolicySet policies = PolicySet.of(first);
		policies.requireWindows(second, first);
		assertThat(policies.mutate().put(second, first).build().versions("orders")).hasSize(2);
	}

	@Test
	void editKeepsTheSpecOfALimitThatItLeavesAlone() {
		PolicySet before = PolicySet.of(orders("10/s"));
		Policy second = Policy.builder("orders")
			.version(1)
			.limit("per-tenant", List.of(Dimension.TENANT), "10/s")
			.limit("all", List.of(), "5/s")
			.build();
		PolicySet after = before.mutate().put(second).build();
		assertThat(spec(after)).isSameAs(spec(before));
	}

	@Test
	void versionsThatAreBothInForceShareTheirWindows() {
		Policy first = orders("10/s");
		Policy second = Policy.builder("orders")
			.version(1)
			.limit("per-tenant", List.of(Dimension.TENANT), "10/s burst 100")
			.build();
		PolicySet policies = PolicySet.of(first);
		CounterSpec spec = spec(policies);
		PolicySet both = policies.mutate().put(second.with(Rollout.COMPLETE.withPercent(50)), first).build();
		assertThat(spec.lifetimeMicros()).isEqualTo(20_000_000);
		both.mutate().put(orders("10/s")).build();
		assertThat(spec.lifetimeMicros()).isEqualTo(2_000_000);
	}

	@Test
	void recordWithAWindowThatCannotBeToldApartIsRefusedAndChangesNothing() {
		PolicySet policies = PolicySet.of(orders("10/100s"));
		assertThatIllegalArgumentException().isThrownBy(() -> put(policies, Dimension.TENANT, "acme", "10/699s"))
			.withMessageContaining("the windows 100s and 699s cannot share a counter");
		assertThat(policies.match(ACME).specs().get(0).limit().quotas()).containsExactly(Quota.parse("10/100s"));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> policies.requireWindows("orders", Map.of("per-tenant", List.of(Quota.parse("10/699s")))));
	}

	@Test
	void versionWithAWindowThatARecordForbidsIsRefused() {
		PolicySet policies = PolicySet.of(orders("10/s"));
		put(policies, Dimension.TENANT, "acme", "10/699s");
		Policy second = orders("10/100s");
		assertThatIllegalArgumentException().isThrownBy(() -> policies.mutate().put(second));
		assertThatIllegalArgumentException().isThrownBy(() -> policies.requireWindows(second, null));
		assertThat(policies.match(ACME.with(Dimension.TENANT, "globex")).specs().get(0).limit().quotas())
			.containsExactly(Quota.parse("10/s"));
	}

	@Test
	void recordMayBeReplacedWhereThereAreNineWindows() {
		PolicySet policies = PolicySet.of(orders("10/s"));
		IntStream.rangeClosed(1, 8).forEach((i) -> put(policies, Dimension.TENANT, "tenant" + i, "10/" + i + "m"));
		assertThatIllegalArgumentException().isThrownBy(() -> put(policies, Dimension.TENANT, "acme", "10/9m"));
		put(policies, Dimension.TENANT, "tenant8", "10/9m");
		assertThat(
				policies.match(ACME.with(Dimension.TENANT, "tenant8")).specs().get(0).limit().quotas().get(0).window())
			.isEqualTo(Duration.ofMinutes(9));
	}

	private static Policy orders(String... quotas) {
		return Policy.builder("orders").limit("per-tenant", List.of(Dimension.TENANT), quotas).build();
	}

	private static CounterSpec spec(PolicySet policies) {
		return spec(policies, ACME);
	}

	private static CounterSpec spec(PolicySet policies, Request request) {
		return Objects.requireNonNull(policies.match(request)).specs().get(0);
	}

	private static List<Quota> quotas(String... quotas) {
		return List.of(quotas).stream().map(Quota::parse).toList();
	}

	private static void put(PolicySet policies, Dimension dimension, String value, String quota) {
		policies.records()
			.putOverride("orders", dimension, value, Map.of("per-tenant", List.of(Quota.parse(quota))), 1);
	}

}
