package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class RateLimitMetricsAutoConfigurationTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitMetricsAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=2/m", "ratelimit.fleet.expected=4");

	@Test
	void limiterMetersItsDecisions() {
		this.context.withBean(SimpleMeterRegistry.class).run(RateLimitMetricsAutoConfigurationTests::assertMetered);
	}

	@Test
	void registryOfBootsOwnIsFound() {
		this.context
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
					CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class))
			.run(RateLimitMetricsAutoConfigurationTests::assertMetered);
	}

	@Test
	void fleetIsWhatIsExpected() {
		this.context.withBean(SimpleMeterRegistry.class)
			.run((context) -> assertThat(
					context.getBean(MeterRegistry.class).get("ratelimit.fleet.instances").gauge().value())
				.isEqualTo(4));
	}

	@Test
	void switchIsAGauge() {
		this.context.withBean(SimpleMeterRegistry.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(registry.get("ratelimit.switch.on").gauge().value()).isZero();
			context.getBean(ModeSwitch.class)
				.turnOn(new ForcedMode(FailureMode.ALLOW, ForcedMode.USUAL, "ann", "incident 7"));
			assertThat(registry.get("ratelimit.switch.on").gauge().value()).isEqualTo(1);
		});
	}

	@Test
	void latencyIsSeenAfterASecond() {
		this.context.withBean(SimpleMeterRegistry.class).run((context) -> {
			context.getBean(RateLimiter.class).check(Request.of("orders"));
			await().atMost(Duration.ofSeconds(30))
				.until(() -> context.getBean(MeterRegistry.class)
					.get("ratelimit.decision.latency")
					.timer()
					.count() == 1);
		});
	}

	@Test
	void hotKeysAreMetered() {
		this.context.withBean(SimpleMeterRegistry.class)
			.withPropertyValues("ratelimit.hot.threshold=10")
			.run((context) -> {
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				assertThat(registry.get("ratelimit.hotkeys").gauge().value()).isZero();
				assertThat(registry.get("ratelimit.hotkeys.max.rate").gauge().value()).isZero();
				Request ann = Request.of("orders").with(Dimension.USER, "ann");
				await().atMost(Duration.ofSeconds(30)).until(() -> {
					IntStream.range(0, 20).forEach((i) -> context.getBean(RateLimiter.class).check(ann));
					return registry.get("ratelimit.hotkeys").gauge().value() == 1
							&& registry.get("ratelimit.hotkeys.max.rate").gauge().value() > 0;
				});
			});
	}

	@Test
	void withoutARegistryNothingIsMetered() {
		this.context.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(RateLimiter.class)
			.doesNotHaveBean(MeterListener.class));
	}

	@Test
	void worksWithoutMicrometer() {
		this.context.withClassLoader(new FilteredClassLoader("io.micrometer"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RateLimiter.class)
				.doesNotHaveBean("rateLimitMeterListener"));
	}

	@Test
	void twoRegistriesOfWhichNoneIsPrimaryDoNotStopTheStart() {
		this.context.withBean("one", SimpleMeterRegistry.class)
			.withBean("other", SimpleMeterRegistry.class)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(MeterListener.class));
	}

	@Test
	void backsOffForAListenerOfTheUsersOwn() {
		this.context.withBean(SimpleMeterRegistry.class)
			.withBean("own", MeterListener.class,
					() -> new MeterListener(new SimpleMeterRegistry(), PolicySet::of, List.of(), Decision.Source.NONE))
			.run((context) -> assertThat(context).hasSingleBean(MeterListener.class).hasBean("own"));
	}

	@Test
	void disabledMeansNoMeter() {
		this.context.withBean(SimpleMeterRegistry.class)
			.withPropertyValues("ratelimit.enabled=false")
			.run((context) -> assertThat(context.getBean(MeterRegistry.class).getMeters()).isEmpty());
	}

	private static void assertMetered(AssertableApplicationContext context) {
		Request ann = Request.of("orders").with(Dimension.USER, "ann");
		context.getBean(RateLimiter.class).check(ann).toCompletableFuture().join();
		assertThat(context.getBean(MeterRegistry.class)
			.get("ratelimit.decisions")
			.tags("policy", "orders", "outcome", "allowed", "source", "memory")
			.counter()
			.count()).isEqualTo(1);
	}

}
