package dev.ratelimit.policy;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Tier;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PolicySetTests {

	private static final Request ACME = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.USER, "ann")
		.with(Dimension.API_KEY, "k1");

	@Test
	void callerWithoutTierOrOverrideGetsTheDefault() {
		assertThat(quotas(orders(), ACME)).containsExactly("10/s", "100/s");
	}

	@Test
	void tierBeatsTheDefault() {
		assertThat(quotas(orders(), ACME.withTier("pro"))).containsExactly("10/s", "500/s");
	}

	@Test
	void unknownTierIsTheDefault() {
		assertThat(quotas(orders(), ACME.withTier("platinum"))).containsExactly("10/s", "100/s");
	}

	@Test
	void overrideBeatsTheTierForTheLimitsThatItNames() {
		PolicyBuilder policy = orders().override(override(Map.of(Dimension.TENANT, "acme"), "per-user", "77/s"));
		assertThat(quotas(policy, ACME.withTier("pro"))).containsExactly("77/s", "500/s");
	}

	@Test
	void overrideForAnotherCallerDoesNotApply() {
		PolicyBuilder policy = orders().override(override(Map.of(Dimension.TENANT, "other"), "per-user", "77/s"));
		assertThat(quotas(policy, ACME)).containsExactly("10/s", "100/s");
	}

	@Test
	void overrideWithTheMostDimensionsWinsWhateverTheOrder() {
		PolicyOverride narrow = override(Map.of(Dimension.TENANT, "acme", Dimension.USER, "ann"), "per-user", "1/s");
		PolicyOverride wide = override(Map.of(Dimension.TENANT, "acme"), "per-user", "2/s");
		assertThat(quotas(orders().override(narrow).override(wide), ACME)).containsExactly("1/s", "100/s");
		assertThat(quotas(orders().override(wide).override(narrow), ACME)).containsExactly("1/s", "100/s");
	}

	@Test
	void ofOverridesWithAsManyDimensionsTheLastWins() {
		PolicyOverride tenant = override(Map.of(Dimension.TENANT, "acme"), "per-user", "1/s");
		PolicyOverride user = override(Map.of(Dimension.USER, "ann"), "per-user", "2/s");
		assertThat(quotas(orders().override(tenant).override(user), ACME)).containsExactly("2/s", "100/s");
		assertThat(quotas(orders().override(user).override(tenant), ACME)).containsExactly("1/s", "100/s");
		assertThat(quotas(orders().override(tenant).override(tenant(3)), ACME)).containsExactly("3/s", "100/s");
	}

	@Test
	void narrowOverrideOfOneLimitLeavesTheOtherToAWiderOne() {
		PolicyOverride narrow = override(Map.of(Dimension.TENANT, "acme", Dimension.USER, "ann"), "per-user", "1/s");
		PolicyOverride wide = override(Map.of(Dimension.TENANT, "acme"), "per-tenant", "2/s");
		assertThat(quotas(orders().override(narrow).override(wide), ACME)).containsExactly("1/s", "2/s");
	}

	@Test
	void unverifiedFactSelectsNoOverride() {
		PolicyBuilder policy = orders().override(override(Map.of(Dimension.API_KEY, "k1"), "per-user", "77/s"));
		assertThat(quotas(policy, ACME)).containsExactly("77/s", "100/s");
		assertThat(quotas(policy, ACME.withUnverified(Dimension.API_KEY, "k1"))).containsExactly("10/s", "100/s");
	}

	@Test
	void eachOfTenThousandOverridesIsFound() {
		PolicyBuilder policy = orders();
		for (int i = 0; i < 10_000; i++) {
			policy.override(override(Map.of(Dimension.TENANT, "t" + i), "per-tenant", (i + 1) + "/s"));
		}
		PolicySet policies = PolicySet.of(policy.build());
		for (int i = 0; i < 10_000; i += 111) {
			Match match = policies.match(ACME.with(Dimension.TENANT, "t" + i));
			assertThat(match).isNotNull();
			assertThat(match.specs().get(1).limit().quotas()).containsExactly(Quota.parse((i + 1) + "/s"));
		}
	}

	@Test
	void tierMayHaveAFailureModeOfItsOwn() {
		PolicyBuilder policy = orders().onFailure(FailureMode.DENY).tier("vip", new Tier(Map.of(), FailureMode.ALLOW));
		assertThat(match(policy, ACME).onFailure()).isEqualTo(FailureMode.DENY);
		assertThat(match(policy, ACME.withTier("vip")).onFailure()).isEqualTo(FailureMode.ALLOW);
		assertThat(match(policy, ACME.withTier("pro")).onFailure()).isEqualTo(FailureMode.DENY);
	}

	@Test
	void tierThatChangesALimitWhichDoesNotExistIsRejected() {
		assertThatIllegalArgumentException()
			.isThrownBy(
					() -> orders().tier("x", new Tier(Map.of("per-usr", List.of(Quota.parse("1/s"))), null)).build())
			.withMessageContaining("tier 'x'")
			.withMessageContaining("per-usr")
			.withMessageContaining("per-user");
	}

	private static PolicyOverride tenant(int permits) {
		return override(Map.of(Dimension.TENANT, "acme"), "per-user", permits + "/s");
	}

	private static PolicyBuilder orders() {
		return Policy.builder("orders")
			.limit("per-user", List.of(Dimension.TENANT, Dimension.USER), "10/s")
			.limit("per-tenant", List.of(Dimension.TENANT), "100/s")
			.tier("pro", new Tier(Map.of("per-tenant", List.of(Quota.parse("500/s"))), null));
	}

	private static PolicyOverride override(Map<Dimension, String> when, String limit, String quota) {
		return new PolicyOverride(when, Map.of(limit, List.of(Quota.parse(quota))));
	}

	private static Match match(PolicyBuilder policy, Request request) {
		Match match = PolicySet.of(policy.build()).match(request);
		assertThat(match).isNotNull();
		return match;
	}

	private static List<String> quotas(PolicyBuilder policy, Request request) {
		return match(policy, request).specs()
			.stream()
			.map(CounterSpec::limit)
			.flatMap((limit) -> limit.quotas().stream())
			.map(Quota::toString)
			.toList();
	}

}
