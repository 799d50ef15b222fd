package dev.ratelimit.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitFleetAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class AuditLostIntegrationTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new);

	@Test
	void entriesThatAFrozenRedisDoesNotTakeAreWrittenOnceAndInOrderWhenItGoesOn(RedisServer redis) {
		on(redis).run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(lost(meters)).isZero();
			AuditTrail trail = context.getBean(AuditTrail.class);
			redis.freeze();
			trail.append(entry("first"), null, null);
			soon().until(() -> trail.show(null, 10).toCompletableFuture().join().get("source").equals("instance"));
			trail.append(entry("second"), null, null);
			trail.append(entry("third"), null, null);
			redis.thaw();
			soon().ignoreExceptions().until(() -> reasons(context).size() == 3);
			trail.append(entry("fourth"), null, null);
			soon().until(() -> reasons(context).size() >= 4);
			assertThat(reasons(context)).containsExactly("fourth", "third", "second", "first");
			assertThat(lost(meters)).isZero();
			assertThat(join(trail.verify())).containsEntry("result", "intact");
		});
	}

	@Test
	void entriesThatWaitTooLongOrAreTooManyAreCounted(RedisServer redis) {
		on(redis).run((context) -> {
			redis.cli("SET", "rl:{policies}:audit", "foreign");
			try (AuditTrail trail = new AuditTrail(context.getBean(PolicyStore.class), 3, Duration.ZERO)) {
				IntStream.range(0, 5).forEach((i) -> trail.append(entry("entry " + i), null, null));
				assertThat(trail.lost()).isEqualTo(2);
				trail.start();
				soon().until(() -> trail.lost() == 5);
			}
		});
	}

	@Test
	void entriesThatWaitAtTheEndOfTheApplicationAreReported(RedisServer redis, CapturedOutput output) {
		on(redis).run((context) -> {
			redis.cli("SET", "rl:{policies}:audit", "foreign");
			context.getBean(AuditTrail.class).append(entry("last"), null, null);
			soon().until(() -> output.getOut().contains("The audit trail cannot be written (WRONGTYPE "));
		});
		assertThat(output).contains("before the application ended: only the audit log has 1");
	}

	@Test
	void attemptsBeyondTheirNumberPerMinuteAreCounted(RedisServer redis) {
		on(redis).run((context) -> {
			AuditTrail trail = context.getBean(AuditTrail.class);
			IntStream.range(0, 102)
				.forEach((i) -> trail.admits(AuditRecord.of(Instant.EPOCH, "test", "refused", "bob", "", "", "", "")));
			assertThat(lost(context.getBean(MeterRegistry.class))).isEqualTo(2);
		});
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	private static AuditRecord entry(String reason) {
		return AuditRecord.of(Instant.now(), "test", "done", "ann", "", "", "", reason);
	}

	private static List<String> reasons(ApplicationContext context) {
		return join(context.getBean(PolicyStore.class).audit(null, 10)).stream()
			.map((entry) -> entry.attempt().reason())
			.toList();
	}

	private static ConditionFactory soon() {
		return Awaitility.await().atMost(Duration.ofMinutes(1));
	}

	private static double lost(MeterRegistry meters) {
		return meters.get("ratelimit.audit.lost").functionCounter().count();
	}

}
