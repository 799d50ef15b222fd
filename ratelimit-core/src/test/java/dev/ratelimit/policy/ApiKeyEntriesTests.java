package dev.ratelimit.policy;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

/** API keys in lists, overrides and tiers. */
class ApiKeyEntriesTests {

	/** What {@code printf %s sk_live_4711 | sha256sum} says. */
	private static final String DIGEST = "sha256:60ccd9c50cc49a2cbb7523806aade1d93164580391590d96c07d21820e1237b2";

	private static final String KEY = "sk_live_4711";

	private static final Request CALLER = Request.of("orders").with(Dimension.TENANT, "acme");

	private final PolicySet policies = PolicySet
		.of(Policy.builder("orders").limit("per-tenant", List.of(Dimension.TENANT), "10/h").build());

	@ParameterizedTest
	@ValueSource(strings = { KEY, DIGEST })
	void listMatchesAKeyHoweverItWasNamed(String named) {
		AccessList list = new AccessList(List.of(Map.of(Dimension.API_KEY, named)));
		assertThat(matches(list, KEY)).isTrue();
		assertThat(matches(list, "sk_live_4712")).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { KEY, DIGEST })
	void overrideAndTierMatchAKeyHoweverItWasNamed(String named) {
		CallerRecords records = this.policies.records();
		records.putTier(Dimension.API_KEY, named, "pro", 1);
		records.putOverride("orders", Dimension.API_KEY, named, Map.of("per-tenant", List.of(Quota.parse("99/h"))), 2);
		Request caller = CALLER.with(Dimension.API_KEY, KEY);
		assertThat(records.tier(caller)).isEqualTo("pro");
		assertThat(permits(caller)).isEqualTo(99);
		records.removeOverride("orders", Dimension.API_KEY, KEY);
		records.removeTier(Dimension.API_KEY, DIGEST);
		assertThat(permits(caller)).isEqualTo(10);
		assertThat(records.tier(caller)).isNull();
	}

	@Test
	void nobodyCallsWithADigest() {
		AccessList list = new AccessList(List.of(Map.of(Dimension.API_KEY, KEY)));
		assertThat(matches(list, DIGEST)).isFalse();
		CallerRecords records = this.policies.records();
		records.putTier(Dimension.API_KEY, DIGEST, "pro", 1);
		assertThat(records.tier(CALLER.with(Dimension.API_KEY, DIGEST))).isNull();
	}

	@Test
	void patternIsComparedToTheKeyItself() {
		AccessList list = new AccessList(List.of(Map.of(Dimension.API_KEY, "sk_live_*")));
		assertThat(matches(list, KEY)).isTrue();
	}

	private static boolean matches(AccessList list, String key) {
		return list.entries().matches(CALLER.with(Dimension.API_KEY, key), Facts.VERIFIED);
	}

	private long permits(Request caller) {
		return this.policies.match(caller).specs().get(0).limit().quotas().get(0).permits();
	}

}
