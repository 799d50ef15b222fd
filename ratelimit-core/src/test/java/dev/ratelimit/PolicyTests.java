package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PolicyTests {

	@ParameterizedTest
	@ValueSource(strings = { "", "Orders", "or ders", "_orders", "orders:v1", "{orders}",
			"a123456789012345678901234567890123456789012345678901234567890123" })
	void idThatIsNoneIsNamed(String id) {
		assertThatIllegalArgumentException().isThrownBy(() -> Policy.of(id, Algorithm.GCRA, limit("x", "1/s")))
			.withMessage(
					"policy '" + id + "': an id is 1 to 63 lower-case letters, digits, dots, dashes and underscores");
	}

	@ParameterizedTest
	@ValueSource(longs = { -5_000_000, 0, 1, 999_999 })
	void deadlineBelowAMillisecondIsRefused(long nanos) {
		assertThatIllegalArgumentException()
			.isThrownBy(
					() -> Policy.builder("orders").limit(limit("x", "1/s")).timeout(Duration.ofNanos(nanos)).build())
			.withMessageContaining("timeout must be at least 1ms");
	}

	@Test
	void noLimitIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Policy.of("orders", Algorithm.GCRA))
			.withMessage("policy 'orders': needs 1 to 16 limits but has 0");
	}

	@Test
	void sixteenLimitsAreAllowedAndSeventeenRefused() {
		Limit[] limits = IntStream.range(0, 17).mapToObj((i) -> limit("l" + i, "1/s")).toArray(Limit[]::new);
		assertThat(Policy.of("orders", Algorithm.GCRA, Arrays.copyOf(limits, 16)).limits()).hasSize(16);
		assertThatIllegalArgumentException().isThrownBy(() -> Policy.of("orders", Algorithm.GCRA, limits))
			.withMessage("policy 'orders': needs 1 to 16 limits but has 17");
	}

	@Test
	void twoLimitsOfOneNameAreRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("orders", Algorithm.GCRA, limit("x", "1/s"), limit("x", "2/s")))
			.withMessage("policy 'orders': has two limits named 'x'");
	}

	@ParameterizedTest
	@EnumSource(names = { "GCRA", "TOKEN_BUCKET" }, mode = Mode.EXCLUDE)
	void burstIsRefusedWhereTheAlgorithmHasNone(Algorithm algorithm) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("orders", algorithm, limit("x", "1/s", "5/m burst 9")))
			.withMessage("policy 'orders', limit 'x', quota '5/m burst 9': " + algorithm.text()
					+ " has no burst, remove it or use gcra or token-bucket");
	}

	@ParameterizedTest
	@EnumSource(names = { "GCRA", "TOKEN_BUCKET" })
	void burstIsAllowedForBuckets(Algorithm algorithm) {
		Policy policy = Policy.of("orders", algorithm, limit("x", "5/m burst 9"), limit("y", "5/m burst 1"));
		assertThat(policy.limits()).extracting(Limit::largestCost).containsExactly(9L, 1L);
	}

	@Test
	void logOfMoreThanTenThousandPermitsIsRefused() {
		assertThat(Policy.of("orders", Algorithm.SLIDING_WINDOW_LOG, limit("x", "10000/s")).version()).isZero();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.of("orders", Algorithm.SLIDING_WINDOW_LOG, limit("x", "10001/s")))
			.withMessage(
					"policy 'orders', limit 'x', quota '10001/s': a sliding-window-log keeps an entry per request, "
							+ "at most 10000 permits; use gcra or sliding-window-counter");
	}

	@Test
	void changesToTheListItWasMadeFromDoNotReachIt() {
		List<Limit> limits = new ArrayList<>(List.of(limit("x", "1/s")));
		Policy policy = new Policy("orders", 3, Algorithm.GCRA, limits, Policy.Settings.DEFAULTS);
		limits.clear();
		assertThat(policy.limits()).containsExactly(limit("x", "1/s"));
	}

	@Test
	void tierAndOverrideMayOnlyChangeLimitsThatThePolicyHas() {
		Map<String, List<Quota>> unknown = Map.of("z", List.of(Quota.parse("1/s")));
		PolicyBuilder tier = Policy.builder("orders").limit(limit("x", "1/s")).tier("pro", new Tier(unknown, null));
		assertThatIllegalArgumentException().isThrownBy(tier::build)
			.withMessage(
					"policy 'orders': tier 'pro' changes limit 'z', which the policy does not have, use one of: x");
		PolicyBuilder override = Policy.builder("orders")
			.limit(limit("x", "1/s"))
			.override(new PolicyOverride(Map.of(Dimension.TENANT, "acme"), unknown));
		assertThatIllegalArgumentException().isThrownBy(override::build)
			.withMessage(
					"policy 'orders': an override changes limit 'z', which the policy does not have, use one of: x")
			.withMessageNotContaining("acme");
	}

	@Test
	void quotasOfATierAreHeldToTheAlgorithmAndToTheBoundsOfALimit() {
		PolicyBuilder burst = Policy.builder("orders")
			.algorithm(Algorithm.FIXED_WINDOW)
			.limit(limit("x", "1/s"))
			.tier("pro", new Tier(Map.of("x", List.of(Quota.parse("1/s burst 2"))), null));
		assertThatIllegalArgumentException().isThrownBy(burst::build)
			.withMessage("policy 'orders', limit 'x', quota '1/s burst 2': fixed-window has no burst, "
					+ "remove it or use gcra or token-bucket");
		PolicyBuilder none = Policy.builder("orders")
			.limit(limit("x", "1/s"))
			.tier("pro", new Tier(Map.of("x", List.of()), null));
		assertThatIllegalArgumentException().isThrownBy(none::build)
			.withMessage("limit 'x': needs 1 to 8 quotas but has 0");
	}

	@Test
	void quotasOfATierAreHeldToTheSplitOfTheLimit() {
		PolicyBuilder small = Policy.builder("orders")
			.limit(limit("x", "8/s").withSplit(8))
			.tier("free", new Tier(Map.of("x", List.of(Quota.parse("5/s"))), null));
		assertThatIllegalArgumentException().isThrownBy(small::build)
			.withMessage("limit 'x': split was 8, but quota '5/s' has only 5 permits for its parts; "
					+ "lower the split or raise the quota");
	}

	@Test
	void chargedCostIsTheEstimateOrTheLargestCostOfAPath() {
		PolicyBuilder orders = Policy.builder("orders").limit("all", List.of(), "10000/s");
		assertThat(orders.build().chargedCost()).isOne();
		assertThat(orders.cost("/bulk", 20).build().chargedCost()).isEqualTo(20);
		assertThat(orders.settling(Settling.byCode(1_000)).build().chargedCost()).isEqualTo(1_000);
		assertThat(orders.cost("/bulk", 2_000).build().chargedCost()).isEqualTo(2_000);
	}

	@Test
	void largestCostIsWhatTheBestPlanAllowsUnderTheNarrowestLimit() {
		PolicyBuilder builder = Policy.builder("orders").limit(limit("x", "10/s", "50/m")).limit(limit("y", "40/s"));
		assertThat(builder.build().largestCost()).isEqualTo(10);
		builder.tier("pro", new Tier(Map.of("x", List.of(Quota.parse("30/s"))), null));
		assertThat(builder.build().largestCost()).isEqualTo(30);
		builder.override(new PolicyOverride(Map.of(Dimension.TENANT, "acme"),
				Map.of("x", List.of(Quota.parse("90/s"), Quota.parse("80/m")))));
		assertThat(builder.build().largestCost()).isEqualTo(40);
	}

	@Test
	void overrideWithoutAWhenIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new PolicyOverride(Map.of(), Map.of()))
			.withMessage("an override needs a 'when' with at least one dimension");
	}

	@Test
	void textOfAnOverrideShowsNoValues() {
		assertThat(new PolicyOverride(Map.of(Dimension.TENANT, "acme"), Map.of()).toString()).contains("tenant")
			.doesNotContain("acme");
	}

	@ParameterizedTest
	@EnumSource
	void algorithmIsReadBackFromItsText(Algorithm algorithm) {
		assertThat(Algorithm.parse(algorithm.text())).isEqualTo(algorithm);
	}

	@Test
	void unknownAlgorithmIsAnsweredWithTheKnownOnes() {
		assertThatIllegalArgumentException().isThrownBy(() -> Algorithm.parse("leaky"))
			.withMessage("unknown algorithm 'leaky', use one of: gcra, token-bucket, sliding-window-counter, "
					+ "sliding-window-log, fixed-window");
	}

	private static Limit limit(String name, String... quotas) {
		return Limit.of(name, List.of(Dimension.TENANT), quotas);
	}

}
