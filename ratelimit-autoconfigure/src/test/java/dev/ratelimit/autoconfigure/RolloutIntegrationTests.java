package dev.ratelimit.autoconfigure;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.VersionPair;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Rollouts of a fleet that go on, and back, by themselves.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class RolloutIntegrationTests {

	private static final Author ANN = new Author("ann", "because");

	/** Alone no instance has callers of 16 buckets; both together have. */
	private static final int BUCKETS = 10;

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=1000/s", "ratelimit.redis.timeout=2s");

	@Test
	void stagesFollowEachOtherByThemselves(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			write(one, "2000/s", List.of(1, 10, 100), "1s");
			await().atMost(Duration.ofSeconds(60)).until(() -> {
				checkTenants(one, 0);
				checkTenants(other, BUCKETS);
				return version(one) == 3 && version(other) == 3 && state(one) == null;
			});
			List<RecordVersion> history = history(one);
			assertThat(history).extracting(RecordVersion::actor).containsExactly("rollout", "rollout", "ann");
			assertThat(history.get(0).reason()).startsWith("stage 100 % after 1s, by instance ");
			assertThat(history.get(1).reason()).startsWith("stage 10 % after 1s, by instance ");
			for (int i = 0; i + 1 < history.size(); i++) {
				assertThat(Duration.between(history.get(i + 1).time(), history.get(i).time()))
					.isGreaterThan(Duration.ofMillis(900));
			}
			assertThat(ControlPlane.document(history.get(0))).doesNotContainKey("rollout");
			await().untilAsserted(() -> assertThat(trail(one)).contains("action=rollout-stage, outcome=done"));
		}));
	}

	@Test
	void stageThatNobodyUsesWaits(RedisServer redis) {
		on(redis).run((one) -> {
			write(one, "2000/s", List.of(1, 10, 100), "1s");
			await().until(() -> version(one) == 1 && state(one).counts().fleet());
			Instant end = state(one).nextAt().plusSeconds(2);
			await().atMost(Duration.ofSeconds(60)).until(() -> Instant.now().isAfter(end));
			assertThat(version(one)).isOne();
			assertThat(state(one).judgement()).isEqualTo(RolloutState.Judgement.TOO_FEW_CALLERS);
			checkTenants(one, 0);
			checkTenants(one, BUCKETS);
			await().atMost(Duration.ofSeconds(60)).until(() -> version(one) == 2);
		});
	}

	@Test
	void versionThatRefusesFarMoreIsTakenBack(RedisServer redis, CapturedOutput output) {
		on(redis).run((one) -> on(redis).run((other) -> {
			write(one, "1000/m", List.of(), "10m");
			write(one, "2/m", List.of(50, 100), "10m");
			await().until(() -> version(one) == 2 && version(other) == 2);
			RolloutState begun = state(one);
			assertThat(begun.percent()).isEqualTo(50);
			assertThat(begun.previous()).isOne();
			assertThat(begun.nextAt()).isEqualTo(begun.since().plus(Duration.ofMinutes(10)));
			checkTenants(one, 0);
			checkTenants(other, BUCKETS);
			await().atMost(Duration.ofSeconds(30)).until(() -> version(one) == 3 && version(other) == 3);
			RecordVersion back = history(other).get(0);
			assertThat(back.actor()).isEqualTo("rollout");
			assertThat(back.reason()).startsWith("rolled back at 50 %: refuses 100.0 percentage points more")
				.contains("only the old one 0");
			assertThat(one.getBean(Policies.class).get().comparison("orders")).isNull();
			await().untilAsserted(() -> assertThat(trail(one)).contains("action=rollout-back, outcome=done, "
					+ "actor=rollout, target=policy orders, before=version 2, after=version 3, reason=rolled back at 50 %"));
			// Logged before the trail has it, but maybe after the version has come.
			assertThat(output).containsOnlyOnce("version 1 is in force for everybody again");
		}));
	}

	@Test
	void configuredPolicyComesBackFromARolloutBesideIt(RedisServer redis) {
		on(redis).run((one) -> {
			write(one, "2/m", List.of(50, 100), "10m");
			await().until(() -> version(one) == 1);
			checkTenants(one, 0);
			checkTenants(one, BUCKETS);
			await().atMost(Duration.ofSeconds(30)).until(() -> version(one) == 0);
			assertThat(history(one).get(0).deleted()).isTrue();
		});
	}

	/** The write reaches Redis and happens after its deadline. */
	@Test
	void rollbackDuringWhichRedisStoodStillIsReportedOnce(RedisServer redis, CapturedOutput output) {
		FreezingStore freezing = new FreezingStore(redis);
		on(redis).withBean(FreezingStore.class, () -> freezing).run((one) -> {
			write(one, "1000/m", List.of(), "10m");
			write(one, "2/m", List.of(50, 100), "10m");
			await().until(() -> version(one) == 2);
			checkTenants(one, 0);
			checkTenants(one, BUCKETS);
			await().atMost(Duration.ofSeconds(60)).until(() -> version(one) == 3);
			assertThat(freezing.frozen).isTrue();
			await().atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> assertThat(trail(one)).containsOnlyOnce("action=rollout-back, outcome=done"));
			assertThat(output).containsOnlyOnce("version 1 is in force for everybody again");
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
		join(context.getBean(ControlPlane.class).writePolicy("orders", document, null, ANN));
	}

	/** One request of a caller of each of ten buckets that is compared. */
	static void checkTenants(ApplicationContext context, int firstBucket) {
		PolicySet policies = context.getBean(Policies.class).get();
		for (int bucket = firstBucket; bucket < firstBucket + BUCKETS; bucket++) {
			Request request = Request.of("orders").with(Dimension.TENANT, tenant(policies, bucket)).withCost(5);
			context.getBean(RateLimiter.class).check(request).toCompletableFuture().join();
		}
	}

	private static String tenant(PolicySet policies, int bucket) {
		return IntStream.range(0, 1_000_000).mapToObj((i) -> "t" + i).filter((tenant) -> {
			VersionPair pair = policies.pair(Request.of("orders").with(Dimension.TENANT, tenant));
			return pair != null && pair.bucket() == bucket;
		}).findFirst().orElse("t0");
	}

	static long version(ApplicationContext context) {
		return context.getBean(Policies.class).get().find("orders").version();
	}

	static RolloutState state(ApplicationContext context) {
		return context.getBean(RolloutLeader.class).state("orders");
	}

	/** There is one without the endpoint, too. */
	private static String trail(ApplicationContext context) {
		return context.getBean(PolicyStore.class)
			.audit(null, 10)
			.toCompletableFuture()
			.orTimeout(10, TimeUnit.SECONDS)
			.join()
			.toString();
	}

	static List<RecordVersion> history(ApplicationContext context) {
		return join(context.getBean(ControlPlane.class).history(RecordIds.policy("orders")));
	}

	/** Stops Redis before the first write of a rollout, until that has failed. */
	static final class FreezingStore implements BeanPostProcessor {

		private final RedisServer redis;

		private volatile boolean frozen;

		FreezingStore(RedisServer redis) {
			this.redis = redis;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			return (bean instanceof PolicyStore) ? Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { PolicyStore.class }, (proxy, method, arguments) -> {
						boolean freezes = !this.frozen && method.getName().equals("write")
								&& "rollout".equals(arguments[2]);
						if (freezes) {
							this.frozen = true;
							this.redis.freeze();
						}
						Object answer = method.invoke(bean, arguments);
						if (freezes) {
							((CompletionStage<?>) answer).whenComplete((written, failure) -> this.redis.thaw());
						}
						return answer;
					}) : bean;
		}

	}

}
