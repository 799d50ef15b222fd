package dev.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class WorkTests {

	@Test
	void policyWhoseRequestsSearchFiveLogsForEightQuotasEachIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> policy(Algorithm.SLIDING_WINDOW_LOG, 5, 8))
			.withMessageContaining("policy 'orders'")
			.withMessageContaining("at most 10 limits and quotas together")
			.withMessageContaining("has 45")
			.withMessageContaining("use sliding-window-counter");
	}

	@ParameterizedTest
	@CsvSource({ "1, 8", "2, 4", "3, 2", "5, 1" })
	void policyWithTenLimitsAndQuotasInLogsIsAccepted(int limits, int quotas) {
		assertThat(policy(Algorithm.SLIDING_WINDOW_LOG, limits, quotas).limits()).hasSize(limits);
	}

	@ParameterizedTest
	@CsvSource({ "2, 5", "4, 2", "6, 1" })
	void policyWithMoreThanTenLimitsAndQuotasInLogsIsRefused(int limits, int quotas) {
		assertThatIllegalArgumentException().isThrownBy(() -> policy(Algorithm.SLIDING_WINDOW_LOG, limits, quotas));
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SLIDING_WINDOW_LOG")
	void largestPolicyOfEveryOtherAlgorithmFitsACall(Algorithm algorithm) {
		assertThat(policy(algorithm, Policy.MAX_LIMITS, Limit.MAX_QUOTAS).limits()).hasSize(Policy.MAX_LIMITS);
	}

	@Test
	void quotasOfATierCountWhereTheyAreMore() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> logs(2).tier("pro", new Tier(Map.of("limit-1", quotas(8)), null)).build())
			.withMessageContaining("has 11");
	}

	@Test
	void quotasOfATierAndAnOverrideCountTogether() {
		Tier tier = new Tier(Map.of("limit-1", quotas(4)), null);
		PolicyOverride override = new PolicyOverride(Map.of(Dimension.TENANT, "acme"), Map.of("limit-0", quotas(5)));
		assertThat(logs(2).tier("pro", tier).build().settings().tiers()).hasSize(1);
		assertThat(logs(2).override(override).build().settings().overrides()).hasSize(1);
		assertThatIllegalArgumentException().isThrownBy(() -> logs(2).tier("pro", tier).override(override).build())
			.withMessageContaining("has 11");
	}

	@Test
	void overrideThatIsWrittenByItselfIsRefusedWhereItIsTooMuch() {
		Policy policy = logs(2).build();
		policy.requireOverride(Map.of("limit-1", quotas(4)));
		assertThatIllegalArgumentException().isThrownBy(() -> policy.requireOverride(Map.of("limit-1", quotas(5))))
			.withMessageContaining("limit 'limit-1'")
			.withMessageContaining("at most 4 quotas from an override but got 5");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5 })
	void overridesThatAreWrittenByThemselvesFitACallTogether(int limits) {
		Policy policy = logs(limits).build();
		Map<String, List<Quota>> largest = policy.limits()
			.stream()
			.collect(Collectors.toMap(Limit::name, (limit) -> largestOverride(policy, limit)));
		policy.requireOverride(largest);
		assertThat(logs(limits).override(new PolicyOverride(Map.of(Dimension.TENANT, "acme"), largest)).build())
			.isNotNull();
	}

	private static List<Quota> largestOverride(Policy policy, Limit limit) {
		List<Quota> largest = List.of();
		for (int count = 1; count <= Limit.MAX_QUOTAS; count++) {
			try {
				policy.requireOverride(Map.of(limit.name(), quotas(count)));
				largest = quotas(count);
			}
			catch (IllegalArgumentException ex) {
				break;
			}
		}
		return largest;
	}

	private static PolicyBuilder logs(int limits) {
		PolicyBuilder builder = Policy.builder("orders").algorithm(Algorithm.SLIDING_WINDOW_LOG);
		IntStream.range(0, limits).forEach((i) -> builder.limit(limit(i, 1)));
		return builder;
	}

	private static Policy policy(Algorithm algorithm, int limits, int quotas) {
		return Policy.of("orders", algorithm,
				IntStream.range(0, limits).mapToObj((i) -> limit(i, quotas)).toArray(Limit[]::new));
	}

	private static Limit limit(int number, int quotas) {
		return new Limit("limit-" + number, List.of(Dimension.USER), quotas(quotas));
	}

	private static List<Quota> quotas(int count) {
		return IntStream.range(0, count).mapToObj((i) -> Quota.of(100 + i, Duration.ofMinutes(i + 1))).toList();
	}

}
