package dev.ratelimit.actuate;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.metrics.BreakableCounters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

class RateLimitHealthAutoConfigurationTests {

	private static final String NAME = "ratelimitHealthIndicator";

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitHealthAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=2/m", "ratelimit.fleet.expected=4");

	@Test
	void upWithDetails() {
		this.context.run((context) -> {
			Health health = context.getBean(NAME, HealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).isEqualTo(Map.of("backend", "memory", "degraded", false, "breakers",
					Map.of(), "switch", "off", "fleet", 4, "policies", 1, "rejected", 0, "stale", false));
		});
	}

	@Test
	void tellsTheFleetAndTheSwitchAsTheyAre() {
		this.context.run((context) -> {
			context.getBean(Fleet.class).seen(9);
			context.getBean(ModeSwitch.class)
				.turnOn(new ForcedMode(FailureMode.ALLOW, ForcedMode.USUAL, "ann", "incident 7"));
			assertThat(context.getBean(NAME, HealthIndicator.class).health().getDetails())
				.contains(entry("fleet", 9), entry("switch", "allow"))
				.doesNotContainValue("ann");
		});
	}

	@Test
	void upWhileFailureModesAnswer() {
		BreakableCounters counters = new BreakableCounters();
		this.context.withBean("breakable", Counters.class, () -> counters).run((context) -> {
			HealthIndicator indicator = context.getBean(NAME, HealthIndicator.class);
			RateLimiter limiter = context.getBean(RateLimiter.class);
			Request ann = Request.of("orders").with(Dimension.USER, "ann");
			counters.failWith(new UnansweredException(Decision.Reason.TIMEOUT, "late"));
			limiter.check(ann).toCompletableFuture().join();
			assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
			assertThat(indicator.health().getDetails()).contains(entry("backend", "redis"), entry("degraded", true),
					entry("reason", "timeout"));
		});
	}

	@Test
	void requestThatCannotBeResolvedDoesNotMakeTheInstanceDegraded() {
		this.context.run((context) -> {
			context.getBean(RateLimiter.class)
				.degrade(Request.of("orders"), new IllegalStateException())
				.toCompletableFuture()
				.join();
			assertThat(context.getBean(NAME, HealthIndicator.class).health().getDetails())
				.contains(entry("degraded", false));
		});
	}

	@Test
	void switchedOffLikeAnyOther() {
		this.context.withPropertyValues("management.health.ratelimit.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HealthIndicator.class));
	}

	@Test
	void worksWithoutBootsHealth() {
		this.context.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RateLimiter.class)
				.doesNotHaveBean(NAME));
	}

	@Test
	void backsOffForAnIndicatorOfTheUsersOwn() {
		HealthIndicator own = () -> Health.up().build();
		this.context.withBean(NAME, HealthIndicator.class, () -> own)
			.run((context) -> assertThat(context.getBean(HealthIndicator.class)).isSameAs(own));
	}

	@Test
	void backsOffForALimiterOfTheUsersOwn() {
		RateLimiter own = (request) -> CompletableFuture
			.completedStage(Decision.without(request, 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS));
		this.context.withBean("own", RateLimiter.class, () -> own)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HealthIndicator.class));
	}

	@Test
	void disabledMeansNoComponent() {
		this.context.withPropertyValues("ratelimit.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(HealthIndicator.class));
	}

}
