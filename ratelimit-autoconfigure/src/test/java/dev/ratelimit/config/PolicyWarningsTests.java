package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Tier;

import static org.assertj.core.api.Assertions.assertThat;

class PolicyWarningsTests {

	@Test
	void tiersOfASharedCounterThatDifferByMoreThanTenTimesAreNamed() {
		assertThat(PolicyWarnings.warnings(policy(List.of(Dimension.TENANT), "101/s"))).singleElement()
			.asString()
			.startsWith("Tiers of limit 'shared' of policy 'orders' have from 10 to 101 permits at once per 1s. ");
		assertThat(PolicyWarnings.warnings(policy(List.of(Dimension.TENANT), "100/s"))).isEmpty();
	}

	@Test
	void counterOfOneCallerHasOneTier() {
		assertThat(PolicyWarnings.warnings(policy(List.of(Dimension.TENANT, Dimension.USER), "1000/s"))).isEmpty();
	}

	private static Policy policy(List<Dimension> by, String pro) {
		return Policy.builder("orders")
			.limit("shared", by, "10/s")
			.tier("pro", new Tier(Map.of("shared", List.of(Quota.parse(pro))), null))
			.build();
	}

}
