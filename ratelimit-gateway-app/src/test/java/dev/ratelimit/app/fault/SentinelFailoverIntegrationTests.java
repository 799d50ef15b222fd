package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Decision;
import dev.ratelimit.Enforcement;
import dev.ratelimit.testing.RedisSentinels;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(RedisServers.class)
class SentinelFailoverIntegrationTests {

	/** The one of the tenants that asks for more than it gets: for twice as much. */
	private static final String ABOVE = "tenant-9";

	private static final int LIMIT = Faults.rate() / 20;

	/** For so long after a failover whoever is above its limit gets 80 % of it. */
	private static final Duration UNSETTLED = Duration.ofSeconds(5);

	@ParameterizedTest
	@EnumSource(names = { "STRICT", "LEASED" })
	void limitsAreEnforcedByThePromotedReplicaAndNeverByOneThatIsNone(Enforcement enforcement, RedisSentinels redis) {
		RedisServer old = redis.primary();
		RedisServer promoted = redis.replica();
		long asked = promoted.calls("evalsha");
		TenantDecisions seen = new TenantDecisions();
		try (FaultCase fault = FaultCase.start(
				"primary killed, failover by Sentinels; on-failure: allow, " + enforcement,
				Gateway.on(redis)
					.listener(seen)
					.policy("on-failure=allow", "timeout=100ms", "limits.per-tenant.by=tenant",
							"limits.per-tenant.quota=" + Faults.rate() / 5 + "/s", "overrides[0].when.tenant=" + ABOVE,
							"overrides[0].limits.per-tenant=" + LIMIT + "/s",
							"enforcement=" + enforcement.name().toLowerCase(Locale.ROOT)),
				Callers.tenants(10))) {
			fault.before();
			assertThat(promoted.calls("evalsha")).as("asked while a replica").isEqualTo(asked);
			fault.during(old::kill);
			AtomicReference<CompletableFuture<Void>> returned = new AtomicReference<>();
			fault.after(UNSETTLED, () -> {
				awaitPromotion(redis, promoted);
				returned.set(CompletableFuture.runAsync(() -> returnAsReplica(old, promoted)));
			});
			returned.get().join();
			assertThat(fault.calls().total(Calls::serverErrors)).as(fault.decisions().toString()).isZero();
			assertThat(fault.calls().total(Calls::failures)).isZero();
			assertThat(fault.decisions().count(Phase.AFTER, Decisions.Kind::leased) > 0)
				.isEqualTo(enforcement == Enforcement.LEASED);
			assertThat(fault.calls().calls(Phase.AFTER).refused()).isPositive();
			assertThat(fault.decisions().count(Phase.AFTER, (kind) -> kind.reason() == Decision.Reason.READ_ONLY))
				.isZero();
			assertThat(admittedInTheEnd(seen)).isGreaterThanOrEqualTo(LIMIT * UNSETTLED.toSeconds() * 80 / 100);
			assertThat(old.calls("evalsha")).as("asked since it is a replica").isZero();
			assertThat(promoted.calls("evalsha")).isPositive();
			new Meters(fault).assertOutage();
		}
	}

	/** Of the caller that asks for too much, since limits were enforced again. */
	private static long admittedInTheEnd(TenantDecisions seen) {
		List<TenantDecisions.Made> made = seen.of(ABOVE);
		long end = made.get(made.size() - 1).nanos();
		return made.stream()
			.filter((decision) -> decision.nanos() - end > -UNSETTLED.toNanos())
			.filter(TenantDecisions.Made::allowed)
			.count();
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
