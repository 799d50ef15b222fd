package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The end of an application: in order if Redis is there, and soon in any case.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class ShutdownIntegrationTests {

	private static final Request ANN = Request.of("orders").with(Dimension.USER, "ann");

	/** "A few": every wait on the way has a bound, and this is about their sum. */
	private static final Duration A_FEW_SECONDS = Duration.ofSeconds(8);

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class))
		.withPropertyValues("ratelimit.redis.timeout=2s", "ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=100/d");

	@Test
	void noConnectionIsClosedTwice(RedisServer redis, CapturedOutput output) {
		for (int i = 0; i < 3; i++) {
			on(redis).run(ShutdownIntegrationTests::assertRedisAnswers);
		}
		assertThat(output).doesNotContain("already closed");
	}

	@Test
	void noConnectionToAnotherRedisForPoliciesIsClosedTwice(RedisServer redis, CapturedOutput output) {
		for (int i = 0; i < 3; i++) {
			on(redis)
				.withPropertyValues("ratelimit.policies-store.redis.url=redis://" + redis.host() + ":" + redis.port())
				.run(ShutdownIntegrationTests::assertRedisAnswers);
		}
		assertThat(output).doesNotContain("already closed");
	}

	@Test
	void noConnectionToAClusterIsClosedTwice(RedisCluster cluster, CapturedOutput output) {
		this.context.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:" + cluster.servers().get(0).port())
			.run(ShutdownIntegrationTests::assertRedisAnswers);
		assertThat(output).doesNotContain("already closed");
	}

	@Test
	void applicationEndsWhileRedisIsFrozen(RedisServer redis) {
		assertThat(closing(redis, on(redis))).isLessThan(A_FEW_SECONDS);
	}

	@Test
	void applicationEndsWhileTheRedisOfPoliciesIsFrozen(RedisServer redis) {
		try (RedisServer own = RedisServer.start()) {
			assertThat(closing(own,
					on(redis).withPropertyValues(
							"ratelimit.policies-store.redis.url=redis://" + own.host() + ":" + own.port())))
				.isLessThan(A_FEW_SECONDS);
		}
	}

	@Test
	void applicationEndsWhileTheThreadsOfTheClientAreStuck(RedisServer redis, CapturedOutput output) {
		CountDownLatch stuck = new CountDownLatch(1);
		Channels channels = new Channels();
		ClientResources resources = ClientResources.builder().nettyCustomizer(channels).build();
		try {
			long[] start = new long[1];
			on(redis).withBean(ClientResources.class, () -> resources).run((context) -> {
				assertRedisAnswers(context);
				channels.open.forEach((channel) -> channel.eventLoop().execute(() -> await(stuck)));
				start[0] = Pauses.now();
			});
			assertThat(Pauses.without(start[0])).isLessThan(A_FEW_SECONDS);
			assertThat(output).contains("is not closed after 3 s");
		}
		finally {
			stuck.countDown();
			resources.shutdown();
		}
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	/** How long it takes to close a context while a server is frozen. */
	private static Duration closing(RedisServer frozen, ApplicationContextRunner runner) {
		long[] start = new long[1];
		try {
			runner.run((context) -> {
				assertRedisAnswers(context);
				frozen.freeze();
				start[0] = Pauses.now();
			});
			return Pauses.without(start[0]);
		}
		finally {
			frozen.thaw();
		}
	}

	/** A start does not wait for Redis for long. */
	private static void assertRedisAnswers(ApplicationContext context) {
		RateLimiter limiter = context.getBean(RateLimiter.class);
		Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.until(() -> limiter.check(ANN).toCompletableFuture().join().source() == Decision.Source.REDIS);
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static final class Channels implements NettyCustomizer {

		private final List<Channel> open = new CopyOnWriteArrayList<>();

		@Override
		public void afterChannelInitialized(Channel channel) {
			this.open.add(channel);
		}

	}

}
