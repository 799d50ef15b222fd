package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Decision;
import dev.ratelimit.testing.RedisSentinels;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(RedisServers.class)
class SentinelFailoverIntegrationTests {

	@Test
	void limitsAreEnforcedByThePromotedReplicaAndNeverByOneThatIsNone(RedisSentinels redis) {
		RedisServer old = redis.primary();
		RedisServer promoted = redis.replica();
		long asked = promoted.calls("evalsha");
		try (FaultCase fault = FaultCase.start("primary killed, failover by Sentinels; on-failure: allow",
				Gateway.on(redis)
					.policy("on-failure=allow", "timeout=100ms", "limits.per-tenant.by=tenant",
							"limits.per-tenant.quota=" + Faults.rate() / 20 + "/s"),
				Callers.tenants(10))) {
			fault.before();
			assertThat(promoted.calls("evalsha")).as("asked while a replica").isEqualTo(asked);
			fault.during(old::kill);
			AtomicReference<CompletableFuture<Void>> returned = new AtomicReference<>();
			fault.after(() -> {
				awaitPromotion(redis, promoted);
				returned.set(CompletableFuture.runAsync(() -> returnAsReplica(old, promoted)));
			});
			returned.get().join();
			assertThat(fault.calls().total(Calls::serverErrors)).as(fault.decisions().toString()).isZero();
			assertThat(fault.calls().total(Calls::failures)).isZero();
			assertThat(fault.calls().calls(Phase.AFTER).refused()).isPositive();
			assertThat(fault.decisions().count(Phase.AFTER, (kind) -> kind.reason() == Decision.Reason.READ_ONLY))
				.isZero();
			assertThat(old.calls("evalsha")).as("asked since it is a replica").isZero();
			assertThat(promoted.calls("evalsha")).isPositive();
		}
	}

	private static void awaitPromotion(RedisSentinels redis, RedisServer promoted) {
		await("the failover").atMost(Duration.ofSeconds(30))
			.pollInterval(Duration.ofMillis(20))
			.until(() -> redis.primary() == promoted && promoted.cli("ROLE").startsWith("master"));
	}

	private static void returnAsReplica(RedisServer old, RedisServer promoted) {
		old.restart();
		old.cli("REPLICAOF", promoted.host(), String.valueOf(promoted.port()));
		await().until(() -> old.cli("INFO", "replication").contains("master_link_status:up"));
	}

}
