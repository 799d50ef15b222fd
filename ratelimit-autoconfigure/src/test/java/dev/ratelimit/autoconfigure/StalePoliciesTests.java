package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.actuate.RateLimitHealthAutoConfiguration;
import dev.ratelimit.config.PolicyDocuments;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

/**
 * What meters and health say of a store that falls silent, as time passes.
 */
class StalePoliciesTests {

	private static final String GOOD = "{\"policy\": {\"limits\": {\"all\": {\"by\": [], \"quota\": \"5/s\"}}}}";

	private final TimedStore store = new TimedStore();

	private final PolicyDocuments reader = new PolicyDocuments(new PolicyMapper(Set.of(), Set.of(), null));

	private final Policies policies = new Policies(PolicySet.of());

	private final LivePolicies live = new LivePolicies(this.policies, this.policies::replace, this.reader,
			(key) -> List.of());

	private final Replica replica = new Replica(this.store, Snapshot.NONE, this.live::changed, this.store::nanos);

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class,
				RateLimitMetricsAutoConfiguration.class, RateLimitHealthAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(PolicyStore.class, () -> this.store)
		.withBean(Policies.class, () -> this.policies)
		.withBean(LivePolicies.class, () -> this.live)
		.withBean(ControlPlane.class,
				() -> new ControlPlane(this.store, this.replica, this.live, this.reader, (policy) -> List.of()));

	@AfterEach
	void end() {
		this.replica.close();
	}

	@Test
	void silenceOfThirtySecondsIsSeenAndSoIsItsEnd() {
		this.replica.start();
		await().until(() -> this.replica.state().read());
		this.context.run((context) -> {
			this.store.goAway();
			this.store.pass(Duration.ofSeconds(30));
			assertStale(context, false);
			this.store.pass(Duration.ofSeconds(1));
			assertStale(context, true);
			assertThat(health(context)).doesNotContainKey("incident");
			this.store.comeBack();
			await().untilAsserted(() -> assertStale(context, false));
		});
	}

	@Test
	void lossOfTheStoreIsSeenHoweverOftenItAnswers() {
		this.replica.start();
		this.context.run((context) -> {
			write(GOOD);
			await().until(() -> this.policies.get().find("orders") != null);
			this.store.loseEverything();
			await().untilAsserted(() -> assertStale(context, true));
			assertThat(health(context)).contains(entry("incident", "the store has lost the last writes"));
			assertThat(this.policies.get().find("orders").version()).isOne();
		});
	}

	@Test
	void versionsThatAreNotInForceAreCounted() {
		this.replica.start();
		this.context.run((context) -> {
			assertThat(health(context)).contains(entry("rejected", 0));
			write("{\"policy\": {\"limits\": 5}}");
			await().untilAsserted(() -> assertThat(health(context)).contains(entry("rejected", 1)));
			// The revision changes after all that it brings.
			await().until(() -> this.replica.state().revision() == 1);
			assertThat(context.getBean(MeterRegistry.class).get("ratelimit.policies.version").gauge().value()).isOne();
			write(GOOD);
			await().untilAsserted(() -> assertThat(health(context)).contains(entry("rejected", 0)));
		});
	}

	private void write(String body) {
		join(this.store.write(List.of(new Edit(RecordIds.policy("orders"), body, null)), Seen.NOTHING, "mallory", ""));
	}

	private static void assertStale(ApplicationContext context, boolean stale) {
		assertThat(health(context)).contains(entry("stale", stale));
		assertThat(context.getBean(MeterRegistry.class).get("ratelimit.policies.stale").gauge().value())
			.isEqualTo(stale ? 1 : 0);
	}

	private static Map<String, Object> health(ApplicationContext context) {
		return context.getBean("ratelimitHealthIndicator", HealthIndicator.class).health().getDetails();
	}

}
