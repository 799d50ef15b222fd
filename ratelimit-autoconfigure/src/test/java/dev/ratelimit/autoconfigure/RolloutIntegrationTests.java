package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AuditTrail;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Rollouts of a fleet that go on, and back, by themselves.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class RolloutIntegrationTests {

	private static final Author ANN = new Author("ann", "because");

	/** Alone no instance has decided enough to say anything; both together have. */
	private static final int CHECKS = 280;

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=1000/h", "ratelimit.redis.timeout=2s");

	@Test
	void stagesFollowEachOtherByThemselves(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			write(one, "2000/h", List.of(1, 10, 100), "1s");
			await().atMost(Duration.ofSeconds(30))
				.until(() -> version(one) == 3 && version(other) == 3 && state(one) == null);
			List<RecordVersion> history = history(one);
			assertThat(history).extracting(RecordVersion::actor).containsExactly("rollout", "rollout", "ann");
			assertThat(history).extracting(RecordVersion::reason)
				.containsExactly("stage 100 % after 1s", "stage 10 % after 1s", "because");
			for (int i = 0; i + 1 < history.size(); i++) {
				assertThat(Duration.between(history.get(i + 1).time(), history.get(i).time()))
					.isGreaterThan(Duration.ofMillis(900));
			}
			assertThat(ControlPlane.document(history.get(0))).doesNotContainKey("rollout");
		}));
	}

	@Test
	void versionThatRefusesFarMoreIsTakenBack(RedisServer redis, CapturedOutput output) {
		on(redis).run((one) -> on(redis).run((other) -> {
			write(one, "1000/h", List.of(), "10m");
			write(one, "2/h", List.of(50, 100), "10m");
			await().until(() -> version(one) == 2 && version(other) == 2);
			RolloutState begun = state(one);
			assertThat(begun.percent()).isEqualTo(50);
			assertThat(begun.previous()).isOne();
			assertThat(begun.nextAt()).isEqualTo(begun.since().plus(Duration.ofMinutes(10)));
			checkTenants(one, "a");
			checkTenants(other, "b");
			await().atMost(Duration.ofSeconds(30)).until(() -> version(one) == 3 && version(other) == 3);
			RecordVersion back = history(other).get(0);
			assertThat(back.actor()).isEqualTo("rollout");
			assertThat(back.reason()).startsWith("rolled back at 50 %: refuses 100.0 % of ")
				.contains("the version before 0.0 % of ");
			assertThat(one.getBean(Policies.class).get().comparison("orders")).isNull();
			assertThat(output).containsOnlyOnce("version 1 is in force for everybody again");
			await().untilAsserted(() -> assertThat(trail(one)).contains("action=rollout-back, outcome=done, "
					+ "actor=rollout, target=orders, before=version 2, after=version 3, reason=rolled back at 50 %"));
		}));
	}

	@Test
	void configuredPolicyComesBackFromARolloutBesideIt(RedisServer redis) {
		on(redis).run((one) -> {
			write(one, "2/h", List.of(50, 100), "10m");
			await().until(() -> version(one) == 1);
			checkTenants(one, "a");
			checkTenants(one, "b");
			await().atMost(Duration.ofSeconds(30)).until(() -> version(one) == 0);
			assertThat(history(one).get(0).deleted()).isTrue();
		});
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	static void write(ApplicationContext context, String quota, List<Integer> stages, String hold) {
		Map<String, Object> document = new HashMap<>(
				Map.of("limits", Map.of("per-tenant", Map.of("by", "tenant", "quota", quota))));
		if (!stages.isEmpty()) {
			document.put("rollout", Map.of("stages", stages, "hold", hold));
		}
		ControlPlaneIntegrationTests
			.done(context.getBean(ControlPlane.class).writePolicy("orders", document, null, ANN));
	}

	static void checkTenants(ApplicationContext context, String prefix) {
		for (int i = 0; i < CHECKS; i++) {
			Request request = Request.of("orders").with(Dimension.TENANT, prefix + i).withCost(5);
			context.getBean(RateLimiter.class).check(request).toCompletableFuture().join();
		}
	}

	static long version(ApplicationContext context) {
		return context.getBean(Policies.class).get().find("orders").version();
	}

	static RolloutState state(ApplicationContext context) {
		return context.getBean(RolloutLeader.class).state("orders");
	}

	/** There is one without the endpoint, too. */
	private static String trail(ApplicationContext context) {
		return context.getBean(AuditTrail.class)
			.show(null, 10)
			.toCompletableFuture()
			.orTimeout(10, TimeUnit.SECONDS)
			.join()
			.toString();
	}

	static List<RecordVersion> history(ApplicationContext context) {
		return ControlPlaneIntegrationTests
			.done(context.getBean(ControlPlane.class).history(RecordIds.policy("orders")));
	}

}
