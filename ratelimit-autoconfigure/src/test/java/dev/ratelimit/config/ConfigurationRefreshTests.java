package dev.ratelimit.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.core.env.MapPropertySource;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/**
 * Policies and lists of a changed {@code application.yml}, without a store.
 */
@ExtendWith(OutputCaptureExtension.class)
class ConfigurationRefreshTests {

	private static final String TEN = policy("orders", "10/30d");

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	@TempDir
	private Path folder;

	@Test
	void raisedLimitHoldsAtOnceAndKeepsTheShareThatWasUsed() {
		try (RefreshedApplication application = start(TEN)) {
			assertThat(application.check(ACME.withCost(5)).allowed()).isTrue();
			application.refresh(config(policy("orders", "100/30d")));
			assertThat(remaining(application)).isEqualTo(50);
			assertThat(application.check(ACME).version()).isZero();
		}
	}

	@Test
	void newPolicyIsThereAndOneThatIsGoneStillDecidesWhatNamesIt(CapturedOutput output) {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(policy("login", "5/m")));
			assertThat(application.policies().ids()).containsExactlyInAnyOrder("orders", "login");
			assertThat(application.policies().retired()).containsExactly("orders");
			assertThat(application.live().configured("orders")).isNull();
			assertThat(application.check(ACME.withCost(11)).outcome()).isEqualTo(Decision.Outcome.REFUSED);
			assertThat(output).contains("new or changed: login; removed: orders");
			application.refresh(config(policy("orders", "20/30d")));
			assertThat(application.policies().retired()).containsExactly("login");
			assertThat(remaining(application)).isEqualTo(20);
		}
	}

	@Test
	void ceilingIsAddedChangedAndRemoved() {
		String forced = "  switch: { mode: allow }\n";
		try (RefreshedApplication application = start(TEN + forced)) {
			application.refresh(config(TEN + "      degraded-ceiling: 2/30d\n") + forced);
			assertThat(application.check(ACME.withCost(2)).allowed()).isTrue();
			assertThat(application.check(ACME).refusedBy()).isNotNull()
				.satisfies((status) -> assertThat(status.limit().scope()).isEqualTo("policy"));
			application.refresh(config(TEN + "      degraded-ceiling: many\n") + forced);
			assertThat(application.check(ACME).allowed()).isFalse();
			assertThat(application.live().rejected()).singleElement()
				.satisfies((rejected) -> assertThat(rejected.message())
					.contains("ratelimit.policies.orders.degraded-ceiling"));
			application.refresh(config(TEN) + forced);
			assertThat(application.check(ACME).allowed()).isTrue();
		}
	}

	@Test
	void listsAreReplaced() {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(TEN) + "  deny: [{ tenant: acme }]\n  allow: [{ tenant: internal }]\n");
			assertThat(application.check(ACME).outcome()).isEqualTo(Decision.Outcome.DENIED);
			assertThat(application.check(ACME.with(Dimension.TENANT, "internal")).outcome())
				.isEqualTo(Decision.Outcome.BYPASSED);
			application.refresh(config(TEN));
			assertThat(application.check(ACME).outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		}
	}

	@Test
	void policyThatCannotBeMeantKeepsTheOneBeforeAndTheRestIsLoaded(CapturedOutput output) {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(policy("orders", "0/s"), policy("login", "5/m")));
			assertThat(remaining(application)).isEqualTo(10);
			assertThat(application.policies().ids()).contains("login");
			assertThat(application.live().rejected()).singleElement().satisfies((rejected) -> {
				assertThat(rejected.key().id()).isEqualTo("orders");
				assertThat(rejected.version()).isZero();
				assertThat(rejected.message()).contains("ratelimit.policies.orders.limits.per-tenant.quota");
			});
			assertThat(output).contains("WARN")
				.contains("Policy 'orders' of the configuration is not reloaded; the previous one stays in force")
				.contains("Set 'ratelimit.policies.orders.limits.per-tenant.quota' to a quota such as");
			assertThat(health(application)).contains(entry("rejected", 1));
			application.refresh(config(policy("orders", "20/30d")));
			assertThat(application.live().rejected()).isEmpty();
			assertThat(health(application)).contains(entry("rejected", 0));
			assertThat(remaining(application)).isEqualTo(20);
		}
	}

	@Test
	void valueOfTheWrongKindIsNamedWithWhatIsWanted(CapturedOutput output) {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(TEN + "      algorithm: gcraa\n", policy("orders.v2", "5/m")));
			assertThat(remaining(application)).isEqualTo(10);
			assertThat(application.policies().ids()).contains("orders.v2");
			assertThat(output)
				.contains("'ratelimit.policies.orders.algorithm' cannot be 'gcraa'. Set "
						+ "'ratelimit.policies.orders.algorithm' to one of: gcra, token-bucket,")
				.doesNotContain("ERROR");
			application.refresh("ratelimit:\n  policies: 5\n");
			assertThat(remaining(application)).isEqualTo(10);
			assertThat(application.live().rejected()).extracting((rejected) -> rejected.key().id())
				.containsExactly("ratelimit.policies");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', quoteCharacter = '#',
			value = { "on-failur: deny; Did you mean 'ratelimit.policies.orders.on-failure'?",
					"penalty: { after: 5 }; has a penalty but no limit by user, api-key or ip",
					"timeout: 10; 'ratelimit.policies.orders.timeout' is '10'",
					"timeout: -5ms; Set 'ratelimit.policies.orders.timeout' to 1ms or more" })
	void policyWithAKeyThatHasNoEffectIsRejectedAndTheLastGoodOneStays(String key, String said) {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(
					"    orders:\n      limits: { per-tenant: { by: tenant, quota: 20/30d } }\n      " + key + "\n",
					policy("login", "5/m")));
			assertThat(remaining(application)).isEqualTo(10);
			assertThat(application.policies().ids()).contains("login");
			assertThat(application.live().rejected()).singleElement().satisfies((rejected) -> {
				assertThat(rejected.key().id()).isEqualTo("orders");
				assertThat(rejected.message()).contains(said);
			});
		}
	}

	@Test
	void shadowWithStagesIsRejectedAndTheLastGoodOneStays() {
		try (RefreshedApplication application = start(TEN)) {
			application
				.refresh(config(policy("orders", "20/30d") + "      mode: shadow\n      rollout: { stages: [1] }\n"));
			assertThat(remaining(application)).isEqualTo(10);
			assertThat(application.live().rejected()).extracting(Rejected::message)
				.singleElement()
				.asString()
				.contains("Remove 'ratelimit.policies.orders.rollout.stages'");
		}
	}

	@Test
	void newPolicyThatCannotBeMeantIsShownAndNotThere() {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(TEN, "    login:\n      description: no limits\n"));
			assertThat(application.policies().ids()).containsExactly("orders");
			assertThat(application.live().rejected()).extracting(Rejected::message)
				.singleElement()
				.asString()
				.contains("has no limit");
		}
	}

	@Test
	void listThatCannotBeMeantKeepsTheOneBeforeAndItsEntriesAreNotLogged(CapturedOutput output) {
		try (RefreshedApplication application = start(TEN + "  deny: [{ tenant: acme }]\n")) {
			application.refresh(config(policy("orders", "20/30d"))
					+ "  deny: [{ tenant: globex }, { ip: 203.0.113.77/99 }]\n  allow: [{ tenantt: initech }]\n");
			assertThat(application.check(ACME).outcome()).isEqualTo(Decision.Outcome.DENIED);
			assertThat(application.check(ACME.with(Dimension.TENANT, "globex")).outcome())
				.isEqualTo(Decision.Outcome.ALLOWED);
			assertThat(application.policies().find("orders").limits().get(0).quotas().get(0).permits()).isEqualTo(20);
			assertThat(application.live().rejected()).extracting((rejected) -> rejected.key().id())
				.containsExactlyInAnyOrder("ratelimit.allow", "ratelimit.deny");
			assertThat(output).contains("'ratelimit.deny[1]' is not reloaded")
				.contains("'ratelimit.allow[0]' is not reloaded")
				.doesNotContain("203.0.113.77")
				.doesNotContain("initech");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';',
			value = { "denny: [{ tenant: globex }]; Did you mean 'ratelimit.deny[0].tenant'?",
					"deny: [{ tenant: globex }]| redis: { timout: 5ms }; Did you mean 'ratelimit.redis.timeout'?",
					"allow: [{ tenant: globex }]| redis: { timeout: 5 }; 'ratelimit.redis.timeout' is '5'" })
	void mistakeOutsideOfPoliciesKeepsBothListsAndTheRestIsLoaded(String lines, String said, CapturedOutput output) {
		try (RefreshedApplication application = start(
				TEN + "  deny: [{ tenant: acme }]\n  allow: [{ tenant: internal }]\n")) {
			application.refresh(config(policy("orders", "20/30d")) + "  " + lines.replace("|", "\n ") + "\n");
			assertThat(application.check(ACME).outcome()).isEqualTo(Decision.Outcome.DENIED);
			assertThat(application.check(ACME.with(Dimension.TENANT, "internal")).outcome())
				.isEqualTo(Decision.Outcome.BYPASSED);
			assertThat(application.check(ACME.with(Dimension.TENANT, "globex")).outcome())
				.isEqualTo(Decision.Outcome.ALLOWED);
			assertThat(application.policies().find("orders").limits().get(0).quotas().get(0).permits()).isEqualTo(20);
			assertThat(application.live().rejected())
				.allSatisfy((rejected) -> assertThat(rejected.message()).contains(said))
				.extracting((rejected) -> rejected.key().id())
				.containsExactlyInAnyOrder("ratelimit.allow", "ratelimit.deny");
			assertThat(output)
				.contains("'ratelimit.allow' and 'ratelimit.deny' are not reloaded; the previous lists stay in force. ")
				.contains(said);
			application.refresh(config(policy("orders", "20/30d")));
			assertThat(application.live().rejected()).isEmpty();
			assertThat(application.check(ACME).outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		}
	}

	@Test
	void refreshWithoutAChangeIsSilentAndKeepsWhatLeasesHoldOnTo(CapturedOutput output) {
		try (RefreshedApplication application = start(TEN)) {
			Object spec = application.policies().match(ACME).specs().get(0);
			application.refresh(config(TEN, policy("login", "5/m")));
			assertThat(application.policies().match(ACME).specs().get(0)).isSameAs(spec);
			application.refresh(config(TEN, policy("login", "5/m")));
			assertThat(output).containsOnlyOnce("The configuration was reloaded");
		}
	}

	@Test
	void placeholderIsResolvedAnew() {
		String yaml = config(policy("orders", "${orders-quota}"));
		try (RefreshedApplication application = RefreshedApplication.start(this.folder,
				yaml + "orders-quota: 10/30d\n")) {
			application.refresh(yaml + "orders-quota: 30/30d\n");
			assertThat(remaining(application)).isEqualTo(30);
			application.refresh(yaml);
			assertThat(remaining(application)).isEqualTo(30);
			assertThat(application.live().rejected()).hasSize(1);
		}
	}

	@Test
	void fixedWindowThatCameWithARefreshIsWarnedAbout(CapturedOutput output) {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(TEN + "      algorithm: fixed-window\n"));
			assertThat(output).contains("twice its permits");
		}
	}

	@Test
	void ofManyQuickRefreshesTheLastOneHolds() {
		Map<String, Object> changing = new HashMap<>();
		try (RefreshedApplication application = start(TEN)) {
			application.context()
				.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("changing", changing));
			for (int round = 1; round <= 20; round++) {
				changing.put("ratelimit.policies.orders.limits.per-tenant.quota", round + "1/30d");
				CompletableFuture<?>[] refreshes = IntStream.range(0, 4)
					.mapToObj((i) -> CompletableFuture.runAsync(() -> application.context()
						.publishEvent(new EnvironmentChangeEvent(application.context(), Set.of()))))
					.toArray(CompletableFuture[]::new);
				CompletableFuture.allOf(refreshes).orTimeout(30, TimeUnit.SECONDS).join();
				assertThat(application.policies().find("orders").limits().get(0).quotas().get(0).permits())
					.isEqualTo(round * 10 + 1);
			}
		}
	}

	@Test
	void twoRefreshesInARowBothHold() {
		try (RefreshedApplication application = start(TEN)) {
			application.refresh(config(policy("orders", "20/30d")));
			application.refresh(config(policy("orders", "30/30d"), policy("login", "5/m")));
			assertThat(remaining(application)).isEqualTo(30);
			assertThat(application.policies().ids()).contains("login");
		}
	}

	@Test
	void policiesOfTheApplicationsOwnAreLeftAlone() {
		Policies own = new Policies(
				PolicySet.of(Policy.builder("own").limit("per-tenant", List.of(Dimension.TENANT), "5/m").build()));
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitRefreshAutoConfiguration.class))
			.withBean("own", Policies.class, () -> own)
			.run((context) -> {
				context.publishEvent(new EnvironmentChangeEvent(context, Set.of()));
				assertThat(own.get().ids()).containsExactly("own");
				assertThat(own.get().retired()).isEmpty();
			});
	}

	@Test
	void worksWithoutSpringCloud() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitRefreshAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.springframework.cloud"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RateLimiter.class)
				.doesNotHaveBean("rateLimitPolicyRefresh"));
	}

	private RefreshedApplication start(String policies) {
		return RefreshedApplication.start(this.folder, config(policies));
	}

	private static Map<String, Object> health(RefreshedApplication application) {
		return application.context().getBean("ratelimitHealthIndicator", HealthIndicator.class).health().getDetails();
	}

	private static long remaining(RefreshedApplication application) {
		Decision decision = application.check(ACME.withCost(0));
		assertThat(decision.limits().get(0).quota().window()).isEqualTo(Duration.ofDays(30));
		return decision.limits().get(0).remaining();
	}

	static String config(String... policies) {
		return "ratelimit:\n  policies:\n" + String.join("", policies);
	}

	static String policy(String id, String quota) {
		return """
				    "[%s]":
				      limits: { per-tenant: { by: tenant, quota: "%s" } }
				""".formatted(id, quota);
	}

}
