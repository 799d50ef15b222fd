package dev.ratelimit.config;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitUrlsAutoConfiguration;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.web.UrlLimit;
import dev.ratelimit.web.UrlLimits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A refresh of policies and of the URL entries that name them, beside versions of the
 * store.
 */
class PolicyRefreshTests {

	private static final String BY_USER = "{\"policy\": {\"limits\": {\"all\": {\"by\": \"user\", \"quota\": \"3/s\"}}}}";

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitRefreshAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.login.limits.all.by=ip",
				"ratelimit.policies.login.limits.all.quota=3/h");

	private final WebApplicationContextRunner withEntry = this.application
		.withConfiguration(AutoConfigurations.of(RateLimitUrlsAutoConfiguration.class))
		.withPropertyValues("ratelimit.urls.login.path=/login", "ratelimit.urls.login.policy=login",
				"ratelimit.urls.login.before-authentication=true");

	private final Map<String, Object> moved = new HashMap<>(Map.of("ratelimit.urls.login.policy", "flood",
			"ratelimit.policies.flood.limits.all.by", "ip", "ratelimit.policies.flood.limits.all.quota", "9/h"));

	@Test
	void rejectedVersionIsInForceOnceTheEntryNamesAPolicyThatIsNewInTheSameRefresh() {
		this.withEntry.run((context) -> {
			LivePolicies live = context.getBean(LivePolicies.class);
			live.requireFitting(PolicyUses.all(context.getBeanProvider(PolicyUses.class)::orderedStream));
			arrive(live);
			assertThat(live.rejected()).hasSize(1);
			refresh(context, this.moved);
			assertThat(context.getBean(UrlLimits.class).all()).extracting(UrlLimit::policy).containsExactly("flood");
			assertThat(live.rejected()).isEmpty();
			assertThat(login(context).version()).isOne();
		});
	}

	@Test
	void policyOfTheConfigurationChangesInTheRefreshThatMovesItsEntryToANewPolicy() {
		this.withEntry.run((context) -> {
			this.moved.put("ratelimit.policies.login.limits.all.by", "user");
			refresh(context, this.moved);
			assertThat(context.getBean(LivePolicies.class).rejected()).isEmpty();
			assertThat(login(context).limits().get(0).by()).containsExactly(Dimension.USER);
		});
	}

	@Test
	void versionThatArrivesWhileEntriesAreReloadedMustFitTheNewOnes() {
		Entries entries = new Entries();
		this.application.withBean(ReloadedUrls.class, () -> entries).run((context) -> {
			LivePolicies live = context.getBean(LivePolicies.class);
			live.requireFitting(entries);
			Thread arrival = new Thread(() -> arrive(live), "arrival");
			entries.meanwhile = () -> {
				arrival.start();
				await().atMost(Duration.ofMinutes(1))
					.until(() -> arrival.getState() == Thread.State.BLOCKED || !arrival.isAlive());
			};
			refresh(context, Map.of());
			arrival.join();
			assertThat(live.rejected()).hasSize(1);
			assertThat(login(context).version()).isZero();
		});
	}

	private static void refresh(ApplicationContext context, Map<String, Object> properties) {
		((ConfigurableApplicationContext) context).getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("changed", properties));
		context.publishEvent(new EnvironmentChangeEvent(context, Set.of()));
	}

	private static void arrive(LivePolicies live) {
		live.changed(
				List.of(new RecordVersion(RecordIds.policy("login"), 1, 1, BY_USER, "ann", Instant.EPOCH, "a test")));
	}

	private static Policy login(ApplicationContext context) {
		return context.getBean(Policies.class).get().find("login");
	}

	/** Entries that know no users once they are reloaded. */
	private static final class Entries implements ReloadedUrls, PolicyUses {

		private Runnable meanwhile = () -> {
		};

		private volatile boolean reloaded;

		@Override
		public void reload(Consumer<String> warnings) {
			if (!this.reloaded) {
				this.meanwhile.run();
				this.reloaded = true;
			}
		}

		@Override
		public Map<String, Object> documents() {
			return Map.of();
		}

		@Override
		public List<String> of(String policy) {
			return List.of();
		}

		@Override
		public void requireFitting(Policy policy) {
			if (this.reloaded && policy.limits().get(0).by().contains(Dimension.USER)) {
				throw new InvalidChangeException("policy.limits.all.by", "Limit 'all' counts by user.",
						"Let it count by ip.");
			}
		}

	}

}
