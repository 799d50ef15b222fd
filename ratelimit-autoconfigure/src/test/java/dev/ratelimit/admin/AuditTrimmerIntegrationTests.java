package dev.ratelimit.admin;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitFleetAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.testing.CapturedLog;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The trail within its bounds, and what a verification says of it.
 */
@ExtendWith(RedisServers.class)
class AuditTrimmerIntegrationTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class, RateLimitFleetAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitStoreAutoConfiguration.class,
				RateLimitControlAutoConfiguration.class, RateLimitAdminAutoConfiguration.class));

	@Test
	void entriesThatAreTooManyAreRemovedAndTheRemovalIsAnEntry(RedisServer redis) {
		run(redis, (store, trail) -> {
			CapturedLog log = new CapturedLog("dev.ratelimit.audit");
			Audit audit = new Audit(Clock.systemUTC(), trail, List.of());
			record(audit, 120);
			await(store, 120);
			trimmer(store, audit, Instant.now()).trim();
			await(store, 100);
			List<AuditEntry> left = join(store.audit(null, 1_000));
			assertThat(left.get(0).attempt().action()).isEqualTo("audit-trim");
			assertThat(left.get(99).attempt().reason()).isEqualTo("21");
			Map<String, Object> report = join(trail.verify());
			assertThat(report).containsEntry("result", "intact").containsEntry("entries", 100L);
			assertThat(report.get("start")).asString().contains("trimmed=true");
			log.close();
			assertThat(log.lines()).hasSize(121)
				.last()
				.asString()
				.contains("action=audit-trim outcome=done actor=\"ratelimit\" target=\""
						+ left.get(0).attempt().target() + "\"")
				.endsWith(" id=" + left.get(0).attempt().id());
			trimmer(store, audit, Instant.now()).trim();
			record(audit, 1);
			await(store, 101);
		});
	}

	@Test
	void entriesThatAreTooOldAreRemovedByWholeDays(RedisServer redis) {
		run(redis, (store, trail) -> {
			Audit audit = new Audit(Clock.systemUTC(), trail, List.of());
			Instant today = Instant.now();
			record(audit, 3);
			await(store, 3);
			trimmer(store, audit, today.plus(Duration.ofDays(90))).trim();
			record(audit, 1);
			await(store, 4);
			trimmer(store, audit, today.plus(Duration.ofDays(92))).trim();
			await(store, 1);
			assertThat(join(trail.verify())).containsEntry("result", "intact").containsEntry("entries", 1L);
		});
	}

	@Test
	void boundsThatAreNotValidFailTheStart(RedisServer redis) {
		on(redis).withPropertyValues("ratelimit.audit.retention=1h")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'ratelimit.audit.retention' must be 1d to 3650d"));
		on(redis).withPropertyValues("ratelimit.audit.key-prefix=Rl:Audit")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'ratelimit.audit.key-prefix' is not valid"));
	}

	@Test
	void trailWithAnotherKeyBeginsAChainOfItsOwn(RedisServer redis) {
		on(redis).run((context) -> {
			record(context.getBean(Audit.class), 2);
			await(context.getBean(PolicyStore.class), 2);
		});
		on(redis).withPropertyValues("ratelimit.audit.key-prefix=rl-audit").run((context) -> {
			record(context.getBean(Audit.class), 1);
			await(context.getBean(PolicyStore.class), 1);
			assertThat(redis.cli("EXISTS", "rl-audit:{policies}:audit")).isEqualTo("1");
			assertThat(redis.cli("XLEN", "rl:{policies}:audit")).isEqualTo("2");
			assertThat(join(context.getBean(AuditTrail.class).verify())).containsEntry("result", "intact");
		});
	}

	private void run(RedisServer redis, BiConsumer<PolicyStore, AuditTrail> test) {
		on(redis).run((context) -> test.accept(context.getBean(PolicyStore.class), context.getBean(AuditTrail.class)));
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	private static AuditTrimmer trimmer(PolicyStore store, Audit audit, Instant now) {
		return new AuditTrimmer(store, audit, new AuditOptions(Duration.ofDays(90), 100), "one",
				InstantSource.fixed(now));
	}

	private static void record(Audit audit, int count) {
		for (int i = 0; i < count; i++) {
			audit.record(new Audit.Entry("test", Audit.Outcome.DONE, "ann", "", "", "", "" + i));
		}
	}

	private static void await(PolicyStore store, int entries) {
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.ignoreExceptions()
			.until(() -> join(store.audit(null, 1_000)).size() == entries);
	}

}
