package dev.ratelimit.config;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An invalid property stops the start with the property, the mistake and the fix.
 */
class InvalidPolicyTests {

	private static final String AT = "ratelimit.policies.orders.";

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class));

	@Test
	void unknownDimension() {
		FailureAnalysis analysis = analyze(AT + "limits.per-tenant.by=tenantt", AT + "limits.per-tenant.quota=5/s");
		assertThat(analysis.getDescription())
			.isEqualTo("Policy 'orders' counts by 'tenantt', which is not a known dimension.");
		assertThat(analysis.getAction()).startsWith("Set 'ratelimit.policies.orders.limits.per-tenant.by' to one of:")
			.contains("api-key", "tenant")
			.endsWith("or register a DimensionResolver bean named 'tenantt'.");
	}

	@Test
	void policyWithoutALimit() {
		FailureAnalysis analysis = analyze(AT + "description=x");
		assertThat(analysis.getDescription()).isEqualTo("Policy 'orders' has no limits.");
		assertThat(analysis.getAction()).contains("'ratelimit.policies.orders.limits'");
	}

	@Test
	void limitThatDoesNotSayWhatItCountsBy() {
		FailureAnalysis analysis = analyze(AT + "limits.all.quota=5/s");
		assertThat(analysis.getDescription()).contains("has no 'by', which says what it counts by");
		assertThat(analysis.getAction()).contains("'ratelimit.policies.orders.limits.all.by'").contains("[]");
	}

	@ParameterizedTest
	@CsvSource({ "0/s,at least 1", "100/0s,whole seconds", "100,is not a quota", "-5/s,is not a quota",
			"100/w,is not a quota", "100/32d,at most 31d", "90000001/s,at most 90000000", "1/s burst 0,at least 1" })
	void quotaThatIsNone(String quota, String problem) {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=" + quota);
		assertThat(analysis.getDescription()).contains(quota).contains(problem);
		assertThat(analysis.getAction()).contains("'ratelimit.policies.orders.limits.all.quota'");
	}

	@Test
	void burstWhereTheAlgorithmHasNone() {
		FailureAnalysis analysis = analyze(AT + "algorithm=sliding-window-log", AT + "limits.all.by=",
				AT + "limits.all.quota=5/s burst 10");
		assertThat(analysis.getDescription()).contains("sliding-window-log has no burst").contains("limit 'all'");
	}

	@Test
	void tierThatChangesAnUnknownLimit() {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=5/s",
				AT + "tiers.pro.limits.al=10/s");
		assertThat(analysis.getDescription()).contains("tier 'pro'").contains("'al'").contains("all");
	}

	@ParameterizedTest
	@CsvSource({ "percent=101,percent must be 0 to 100 but was 101", "stages[0]=0,stages must rise",
			"hold=999ms,hold must be at least 1s" })
	void rolloutThatIsNone(String setting, String problem) {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=5/s",
				AT + "rollout." + setting);
		assertThat(analysis.getDescription()).contains(problem);
		assertThat(analysis.getAction())
			.contains("'ratelimit.policies.orders.rollout." + setting.replaceAll("\\W.*", "") + "'");
	}

	@Test
	void costThatFitsUnderNoTier() {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=5/s",
				AT + "tiers.pro.limits.all=10/s", AT + "costs[/export/**]=11");
		assertThat(analysis.getDescription()).contains("/export/**").contains("11").contains("10");
		assertThat(analysis.getAction()).contains("ratelimit.policies.orders.costs");
	}

	@ParameterizedTest
	@CsvSource({ "0,must be 1 to 64 but was 0", "65,must be 1 to 64 but was 65",
			"8,'split was 8, but quota ''5/s'' has only 5 permits for its parts'" })
	void splitThatIsNone(String split, String problem) {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=5/s",
				AT + "limits.all.split=" + split);
		assertThat(analysis.getDescription()).contains("imit 'all'").contains(problem);
		assertThat(analysis.getAction()).contains("'ratelimit.policies.orders.limits.all.split'").contains("1 to 64");
	}

	@Test
	void splitThatATierHasTooFewPermitsFor() {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=100/s",
				AT + "limits.all.split=8", AT + "tiers.free.limits.all=5/s");
		assertThat(analysis.getDescription()).contains("imit 'all'").contains("split was 8").contains("'5/s'");
	}

	@Test
	void costThatFitsIntoNoPart() {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=100/s",
				AT + "limits.all.split=8", AT + "costs[/export/**]=14");
		assertThat(analysis.getDescription()).contains("/export/**").contains("14").contains("more than 13");
		assertThat(analysis.getAction()).contains("lower their split");
	}

	@Test
	void costThatFitsUnderSomeTierIsMeant() {
		this.context
			.withPropertyValues(AT + "limits.all.by=", AT + "limits.all.quota=5/s", AT + "tiers.pro.limits.all=10/s",
					AT + "costs[/export/**]=10")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void rangeThatIsNone() {
		FailureAnalysis analysis = analyze("ratelimit.deny[0].ip=10.0.0.1/8");
		assertThat(analysis.getDescription()).contains("did you mean 10.0.0.0/8");
		assertThat(analysis.getAction()).contains("'ratelimit.deny[0]'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "300.1.1.1", "10.0.0.0/8" })
	void overrideForAnAddressThatIsNone(String ip) {
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=5/s",
				AT + "overrides[0].when.ip=" + ip, AT + "overrides[0].limits.all=9/s");
		assertThat(analysis.getDescription()).contains("one IP address").doesNotContain(ip);
		assertThat(analysis.getAction()).contains("'" + AT + "overrides[0].when.ip'").contains("203.0.113.7");
	}

	@Test
	void digestOfAnApiKeyThatIsNone() {
		String digest = "Sha256:60ccd9";
		FailureAnalysis analysis = analyze(AT + "limits.all.by=", AT + "limits.all.quota=5/s",
				AT + "overrides[0].when.api-key=" + digest, AT + "overrides[0].limits.all=9/s");
		assertThat(analysis.getDescription()).contains("64 hex digits").doesNotContain(digest);
		assertThat(analysis.getAction()).contains("'" + AT + "overrides[0].when.api-key'");
		for (String list : List.of("allow", "deny")) {
			analysis = analyze("ratelimit." + list + "[0].api-key=" + digest);
			assertThat(analysis.getDescription()).contains("64 hex digits").doesNotContain(digest);
			assertThat(analysis.getAction()).contains("'ratelimit." + list + "[0].api-key'");
		}
	}

	@Test
	void badPrefix() {
		assertThat(analyze("ratelimit.key-prefix=Not Good").getAction()).contains("'ratelimit.key-prefix'");
	}

	@ParameterizedTest
	@CsvSource({ "10.0.0.1/8,did you mean 10.0.0.0/8", "proxy.example.com,is not an IP address or range",
			"10.0.0.0/33,is not an IP address or range" })
	void trustedProxyThatIsNoNetwork(String proxy, String problem) {
		FailureAnalysis analysis = analyze("ratelimit.identity.trusted-proxies[0]=192.0.2.0/24",
				"ratelimit.identity.trusted-proxies[1]=" + proxy);
		assertThat(analysis.getDescription()).contains(problem);
		assertThat(analysis.getAction()).contains("'ratelimit.identity.trusted-proxies[1]'").contains("10.0.0.0/8");
	}

	private FailureAnalysis analyze(String... properties) {
		FailureAnalysis[] analysis = new FailureAnalysis[1];
		this.context.withPropertyValues(properties).run((context) -> {
			assertThat(context).hasFailed();
			analysis[0] = new InvalidPolicyFailureAnalyzer().analyze(context.getStartupFailure());
		});
		assertThat(analysis[0]).isNotNull();
		return analysis[0];
	}

}
