package dev.ratelimit.config;

import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Tier;

import static org.assertj.core.api.Assertions.assertThat;

class PolicyWarningsTests {

	@Test
	void tiersOfASharedCounterThatDifferByMoreThanTenTimesAreNamed() {
		assertThat(PolicyWarnings.warnings(policy(List.of(Dimension.TENANT), "101/s"), Set.of())).singleElement()
			.asString()
			.startsWith("Tiers of limit 'shared' of policy 'orders' have from 10 to 101 permits at once per 1s. ");
		assertThat(PolicyWarnings.warnings(policy(List.of(Dimension.TENANT), "100/s"), Set.of())).isEmpty();
	}

	@Test
	void counterOfOneCallerHasOneTier() {
		assertThat(PolicyWarnings.warnings(policy(List.of(Dimension.TENANT, Dimension.USER), "1000/s"), Set.of()))
			.isEmpty();
	}

	@Test
	void stagesInTheConfigurationAreWarnedAbout() {
		PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));
		Map<String, Object> document = Map.of("limits", Map.of("per-user", Map.of("by", "user", "quota", "10/s")),
				"rollout", Map.of("stages", List.of(1, 100)));
		assertThat(PolicyWarnings.warnings(reader.policy("orders", 0, document), Set.of())).singleElement()
			.asString()
			.contains("stays at its 100 %");
	}

	@Test
	void policyThatIsEscapedByChosenValuesAloneIsNamed() {
		Dimension host = new Dimension("host");
		Policy escaped = Policy.builder("orders")
			.limit("per-host", List.of(Dimension.IP, host), "10/s")
			.limit("per-account", List.of(new Dimension("account")), "10/s")
			.build();
		assertThat(PolicyWarnings.warnings(escaped, Set.of("host", "account"))).singleElement()
			.asString()
			.startsWith("Every limit of policy 'orders' counts by a value that callers choose (account, host): ");
		assertThat(PolicyWarnings.warnings(escaped, Set.of("host"))).isEmpty();
	}

	private static Policy policy(List<Dimension> by, String pro) {
		return Policy.builder("orders")
			.limit("shared", by, "10/s")
			.tier("pro", new Tier(Map.of("shared", List.of(Quota.parse(pro))), null))
			.build();
	}

}
