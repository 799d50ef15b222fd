package dev.ratelimit.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Idempotency;
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
	void tiersOfASharedCounterThatFillUpAtDifferentSpeedsAreNamed() {
		Policy policy = Policy.builder("orders")
			.limit("shared", List.of(Dimension.TENANT), "100/m")
			.tier("pro", new Tier(Map.of("shared", List.of(Quota.parse("1000/m burst 100"))), null))
			.build();
		assertThat(PolicyWarnings.warnings(policy, Set.of())).singleElement()
			.asString()
			.startsWith("Tiers of limit 'shared' of policy 'orders' need from 6s to 60s to fill up per 1m. ");
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

	@Test
	void unverifiedApiKeyIsAValueThatCallersChoose() {
		Policy escaped = Policy.builder("orders")
			.limit("per-key", List.of(Dimension.IP, Dimension.API_KEY), "10/s")
			.build();
		assertThat(PolicyWarnings.warnings(escaped, Set.of())).singleElement()
			.asString()
			.startsWith("Every limit of policy 'orders' counts by a value that callers choose (api-key): ");
		Policy limited = Policy.builder("orders")
			.limit("per-key", List.of(Dimension.IP, Dimension.API_KEY), "10/s")
			.limit("per-ip", List.of(Dimension.IP), "10/s")
			.build();
		assertThat(PolicyWarnings.warnings(limited, Set.of())).isEmpty();
		Policy byKey = Policy.builder("orders").limit("per-key", List.of(Dimension.API_KEY), "10/s").build();
		assertThat(PolicyWarnings.warnings(byKey, Set.of())).singleElement()
			.asString()
			.contains("counts by api-key only");
	}

	@Test
	void callersThatShareCountersShareRequestIds() {
		Idempotency idempotency = new Idempotency("X-Request-Id", Duration.ofMinutes(10), 3);
		Policy shared = Policy.builder("orders")
			.limit("per-tenant", List.of(Dimension.TENANT), "10/s")
			.idempotency(idempotency)
			.build();
		assertThat(PolicyWarnings.warnings(shared, Set.of())).singleElement()
			.asString()
			.startsWith("Policy 'orders' has idempotency but no limit by user, api-key or ip");
		Policy own = Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "10/s")
			.idempotency(idempotency)
			.build();
		assertThat(PolicyWarnings.warnings(own, Set.of())).isEmpty();
	}

	private static Policy policy(List<Dimension> by, String pro) {
		return Policy.builder("orders")
			.limit("shared", by, "10/s")
			.tier("pro", new Tier(Map.of("shared", List.of(Quota.parse(pro))), null))
			.build();
	}

}
