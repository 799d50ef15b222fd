package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.reactive.ReactiveRateLimiter;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.WebCall;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class RateLimitAutoConfigurationTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=2/m");

	@Test
	void plainLibraryLimitsByPoliciesFromProperties() {
		this.context.run((context) -> {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			Request ann = Request.of("orders").with(Dimension.USER, "ann");
			assertThat(limiter.check(ann.withCost(2)).toCompletableFuture().join().allowed()).isTrue();
			Decision refused = limiter.check(ann).toCompletableFuture().join();
			assertThat(refused.allowed()).isFalse();
			assertThat(refused.source()).isEqualTo(Decision.Source.MEMORY);
		});
	}

	@Test
	void reactiveLimiterStandsBesideIt() {
		this.context.run((context) -> assertThat(context.getBean(ReactiveRateLimiter.class)
			.check(Request.of("orders").with(Dimension.USER, "ann"))
			.block()
			.allowed()).isTrue());
	}

	@Test
	void worksWithoutReactor() {
		this.context.withClassLoader(new FilteredClassLoader("reactor", "io.lettuce", "org.springframework.data"))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(RateLimiter.class));
	}

	@Test
	void backsOffForALimiterOfTheUsersOwn() {
		RateLimiter own = (request) -> CompletableFuture
			.completedStage(Decision.without(request, 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS));
		this.context.withBean("own", RateLimiter.class, () -> own)
			.run((context) -> assertThat(context.getBean(RateLimiter.class)).isSameAs(own));
	}

	@Test
	void backsOffForCountersOfTheUsersOwn() {
		Counters own = new MemoryCounters(10, MemoryCounters::systemMicros);
		this.context.withBean("own", Counters.class, () -> own)
			.run((context) -> assertThat(context.getBean(Counters.class)).isSameAs(own));
	}

	@Test
	void applicationMayHaveBeansOfOtherTypesWithNamesThatAreNotOurs() {
		this.context.withBean("rateLimiter", String.class, () -> "of a library")
			.withBean("reactiveRateLimiter", Integer.class, () -> 5)
			.run((context) -> {
				assertThat(context).hasNotFailed().hasSingleBean(RateLimiter.class);
				assertThat(context).hasSingleBean(ReactiveRateLimiter.class);
				assertThat(context.getBean("rateLimiter")).isEqualTo("of a library");
			});
	}

	@Test
	void applicationMayHaveABuilderOfItsOwn() {
		this.context
			.withBean("ownBuilder", RateLimiterBuilder.class,
					() -> RateLimiterBuilder.on(new MemoryCounters(10, MemoryCounters::systemMicros)))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBeanProvider(RateLimiterBuilder.class).getIfUnique())
					.isSameAs(context.getBean("ownBuilder"));
			});
	}

	@Test
	void everyBeanIsNamedAfterTheStarter() {
		this.context.run((context) -> assertThat(context.getBeanDefinitionNames())
			.filteredOn((name) -> context.getBean(name).getClass().getName().startsWith("dev.ratelimit."))
			.allMatch((name) -> name.startsWith("rateLimit") || name.startsWith("ratelimit")
					|| name.startsWith("dev.ratelimit.")));
	}

	@Test
	void disabledMeansNoBeanAtAll() {
		this.context.withPropertyValues("ratelimit.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(RateLimiter.class));
	}

	@Test
	void customDimensionIsKnownByTheNameOfItsResolver() {
		this.context.withBean("account", DimensionResolver.class, () -> (call) -> "a1")
			.withBean("regionCodeResolver", DimensionResolver.class, () -> (call) -> "eu")
			.withPropertyValues("ratelimit.policies.orders.limits.per-account.by=account",
					"ratelimit.policies.orders.limits.per-account.quota=5/s")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void entryThatNamesValuesOfTheCallersChoiceIsWarnedAbout(CapturedOutput output) {
		DimensionResolver verified = new DimensionResolver() {
			@Override
			public String resolve(WebCall call) {
				return "g1";
			}

			@Override
			public boolean verified() {
				return true;
			}
		};
		this.context.withBean("account", DimensionResolver.class, () -> (call) -> "a1")
			.withBean("group", DimensionResolver.class, () -> verified)
			.withPropertyValues("ratelimit.allow[0].account=a1", "ratelimit.allow[1].group=g1",
					"ratelimit.deny[0].account=a2", "ratelimit.policies.orders.overrides[0].when.key=k",
					"ratelimit.policies.orders.overrides[0].limits.per-user=5/m")
			.run((context) -> assertThat(output).contains("An entry in 'ratelimit.allow' names 'account'")
				.contains("An entry in 'ratelimit.policies.orders.overrides' names 'key'")
				.doesNotContain("names 'group'")
				.doesNotContain("'ratelimit.deny' names"));
	}

	@Test
	void fixedWindowAndCountingByAnUnverifiedKeyAreWarnedAbout(CapturedOutput output) {
		this.context
			.withPropertyValues("ratelimit.policies.orders.algorithm=fixed-window",
					"ratelimit.policies.orders.limits.per-key.by=api-key",
					"ratelimit.policies.orders.limits.per-key.quota=5/s")
			.run((context) -> assertThat(output).contains("twice its permits").contains("counts by api-key only"));
	}

	@Test
	void splitOfALimitIsReadAndIsNotNamedAsWithoutEffect(CapturedOutput output) {
		this.context
			.withPropertyValues("ratelimit.policies.split.limits.per-tenant.by=tenant",
					"ratelimit.policies.split.limits.per-tenant.quota=1000/s",
					"ratelimit.policies.split.limits.per-tenant.split=8")
			.run((context) -> {
				assertThat(context.getBean(Policies.class).get().find("split").limits()).extracting(Limit::split)
					.containsExactly(8);
				assertThat(output).doesNotContain("have no effect");
			});
	}

	@Test
	void rolloutOfAPolicyIsRead(CapturedOutput output) {
		this.context.withPropertyValues("ratelimit.policies.new.limits.per-tenant.by=tenant",
				"ratelimit.policies.new.limits.per-tenant.quota=1000/s", "ratelimit.policies.new.rollout.percent=10",
				"ratelimit.policies.new.rollout.valid-from=2026-01-01T00:00:00Z")
			.run((context) -> {
				assertThat(context.getBean(Policies.class).get().find("new").settings().rollout()).isEqualTo(
						new Rollout(10, Instant.parse("2026-01-01T00:00:00Z"), List.of(), Duration.ofMinutes(10)));
				assertThat(output).doesNotContain("have no effect");
			});
	}

	@Test
	void switchIsOffUnlessThePropertyNamesAMode() {
		this.context.run((context) -> assertThat(context.getBean(ModeSwitch.class).mode()).isNull());
		this.context.withPropertyValues("ratelimit.switch.mode=")
			.run((context) -> assertThat(context.getBean(ModeSwitch.class).mode()).isNull());
		this.context.withPropertyValues("ratelimit.switch.mode=deny")
			.run((context) -> assertThat(context.getBean(ModeSwitch.class).mode()).isEqualTo(FailureMode.DENY));
	}

	@Test
	void switchAnswersInPlaceOfTheCounters() {
		this.context.withPropertyValues("ratelimit.switch.mode=deny").run((context) -> {
			Decision decision = context.getBean(RateLimiter.class)
				.check(Request.of("orders").with(Dimension.USER, "ann"))
				.toCompletableFuture()
				.join();
			assertThat(decision.allowed()).isFalse();
			assertThat(decision.reason()).isEqualTo(Decision.Reason.SWITCH);
		});
	}

	@Test
	void switchToAModeThatDoesNotExistStopsTheStart() {
		this.context.withPropertyValues("ratelimit.switch.mode=alow")
			.run((context) -> assertThat(context).getFailure().hasStackTraceContaining("ratelimit.switch.mode"));
	}

	@Test
	void switchSetByPropertyIsToldAtStart(CapturedOutput output) {
		this.context.withPropertyValues("ratelimit.switch.mode=local").run((context) -> {
			context.publishEvent(new ApplicationReadyEvent(new SpringApplication(), new String[0],
					context.getSourceApplicationContext(), Duration.ZERO));
			assertThat(output).contains("ratelimit.switch.mode is set").contains("'local'");
		});
	}

	@Test
	void fleetIsOneUnlessMoreAreExpected() {
		this.context.run((context) -> assertThat(context.getBean(Fleet.class).size()).isOne());
		this.context.withPropertyValues("ratelimit.fleet.expected=7")
			.run((context) -> assertThat(context.getBean(Fleet.class).size()).isEqualTo(7));
	}

	@Test
	void fleetOfNobodyStopsTheStart() {
		this.context.withPropertyValues("ratelimit.fleet.expected=0")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("at least 1"));
	}

	@Test
	void contractsPolicyBinds() {
		this.context
			.withPropertyValues("ratelimit.policies.full.description=Order API", "ratelimit.policies.full.owner=team",
					"ratelimit.policies.full.algorithm=gcra", "ratelimit.policies.full.mode=shadow",
					"ratelimit.policies.full.on-failure=local", "ratelimit.policies.full.degraded-floor=20/s",
					"ratelimit.policies.full.degraded-ceiling=5000/s",
					"ratelimit.policies.full.on-missing-identity=skip", "ratelimit.policies.full.timeout=10ms",
					"ratelimit.policies.full.costs[/orders/export/**]=10",
					"ratelimit.policies.full.limits.per-user.by[0]=tenant",
					"ratelimit.policies.full.limits.per-user.by[1]=user",
					"ratelimit.policies.full.limits.per-user.quota[0]=100/s burst 200",
					"ratelimit.policies.full.limits.per-user.quota[1]=3000/m", "ratelimit.policies.full.limits.all.by=",
					"ratelimit.policies.full.limits.all.quota=1000/s",
					"ratelimit.policies.full.tiers.pro.limits.per-user=500/s",
					"ratelimit.policies.full.tiers.pro.on-failure=allow",
					"ratelimit.policies.full.overrides[0].when.tenant=acme",
					"ratelimit.policies.full.overrides[0].limits.per-user=20000/s")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Policies.class).get().find("full")).satisfies((policy) -> {
					assertThat(policy.limits().get(0).quotas()).hasSize(2);
					assertThat(policy.limits().get(1).by()).isEmpty();
					assertThat(policy.settings().shadow()).isTrue();
					assertThat(policy.settings().costs()).containsEntry("/orders/export/**", 10L);
					assertThat(policy.settings().degradedCeiling()).hasToString("5000/s");
					assertThat(policy.settings().tiers()).containsOnlyKeys("pro");
					assertThat(policy.settings().overrides()).hasSize(1);
				});
			});
	}

	@Test
	void idWithADotIsKept() {
		this.context
			.withPropertyValues("ratelimit.policies[orders.v2].limits.all.by=",
					"ratelimit.policies[orders.v2].limits.all.quota=5/s")
			.run((context) -> assertThat(context.getBean(Policies.class).get().ids())
				.isEqualTo(Set.of("orders", "orders.v2")));
	}

}
