package dev.ratelimit.split;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Settling;

import static org.assertj.core.api.Assertions.assertThat;

class AutoSplitTests {

	@ParameterizedTest
	@CsvSource({ "10000, 2", "10001, 4", "20000, 4", "20001, 8", "40000, 8", "79999, 16", "10000000, 16" })
	void everyPartGetsHalfOfTheThresholdAtMostUpToSixteenParts(long perSecond, int parts) {
		assertThat(AutoSplit.parts(perSecond, 10_000, limit("1000000/s"), 1)).isEqualTo(parts);
	}

	@ParameterizedTest
	@CsvSource({ "64/s, 16", "63/s, 8", "15/s, 2", "8/s, 2", "7/s, 1", "1000/s burst 8, 2", "8/s burst 1000, 2" })
	void partHasFourPermitsAtLeast(String quota, int parts) {
		assertThat(AutoSplit.parts(1_000_000, 10_000, limit(quota), 1)).isEqualTo(parts);
	}

	@ParameterizedTest
	@CsvSource({ "100, 8", "101, 4", "400, 2", "401, 1" })
	void partCanHaveTheLargestCost(long cost, int parts) {
		assertThat(AutoSplit.parts(1_000_000, 10_000, limit("800/s"), cost)).isEqualTo(parts);
	}

	@Test
	void partCanHaveTheEstimate() {
		Policy tokens = Policy.builder("tokens").limit(limit("10000/s")).settling(Settling.byCode(1_000)).build();
		assertThat(AutoSplit.parts(1_000_000, 10_000, tokens.limits().get(0), tokens.chargedCost())).isEqualTo(8);
	}

	@Test
	void smallestQuotaDecides() {
		assertThat(AutoSplit.parts(1_000_000, 10_000, limit("1000000/s", "16/h"), 1)).isEqualTo(4);
	}

	private static Limit limit(String... quotas) {
		return Limit.of("per-tenant", List.of(Dimension.TENANT), quotas);
	}

}
