package dev.ratelimit.app.fault;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/** A Redis that answers, but has no room or holds what is not ours. */
class SickRedisIntegrationTests {

	private static final int TENANTS = 10;

	private static final TenantDecisions SEEN = new TenantDecisions();

	private static RedisServer redis;

	private static Gateways gateways;

	@BeforeAll
	static void start() {
		redis = RedisServer.start();
		gateways = Gateways.start(
				Gateway.on(redis)
					.listener(SEEN)
					.policy("on-failure=allow", Faults.timeout(), "limits.per-tenant.by=tenant",
							"limits.per-tenant.quota=" + Faults.rate() / (2 * TENANTS) + "/s"),
				Callers.tenants(TENANTS));
	}

	@AfterAll
	static void stop() {
		gateways.close();
		redis.close();
	}

	@BeforeEach
	void forget() {
		SEEN.forget();
	}

	@Test
	void fullMemoryIsAnsweredByTheFailureMode() {
		try (FaultCase fault = gateways.fault("memory full, noeviction; on-failure: allow, " + Faults.timeout())) {
			fault.before();
			fault.during(() -> redis.cli("CONFIG", "SET", "maxmemory", "1"));
			fault.after(() -> redis.cli("CONFIG", "SET", "maxmemory", "0"));
			assertNoErrors(fault);
			Meters meters = new Meters(fault);
			assertThat(meters.degraded("out-of-memory")).isPositive();
			assertThat(meters.errors("out-of-memory")).isEqualTo(meters.degraded("out-of-memory"));
			assertThat(fault.calls().calls(Phase.AFTER).refused()).isPositive();
		}
	}

	@Test
	void foreignValuesDegradeOnlyTheirOwnCounters() {
		List<String> keys = tenants().stream().map(ShardTenants::key).toList();
		try (FaultCase fault = gateways
			.fault("foreign values under 2 of 10 counters' keys; on-failure: allow, " + Faults.timeout())) {
			fault.before();
			fault.during(() -> {
				redis.cli("SET", keys.get(0), "nonsense");
				// In one step, or a check in between makes the counter anew.
				redis.cli("EVAL", "redis.call('DEL', KEYS[1]) return redis.call('HSET', KEYS[1], 'field', 'value')",
						"1", keys.get(1));
			});
			Meters meters = new Meters(fault);
			assertThat(meters.breakersClosed()).isTrue();
			fault.after(() -> redis.cli("DEL", keys.get(0), keys.get(1)));
			assertNoErrors(fault);
			assertThat(SEEN.of(tenants().subList(0, 2))).anyMatch(SickRedisIntegrationTests::corrupt);
			assertThat(SEEN.of(tenants().subList(2, TENANTS))).noneMatch(SickRedisIntegrationTests::corrupt);
			assertThat(meters.degraded("corrupt")).isPositive().isEqualTo(degraded(fault));
			assertThat(meters.errors("corrupt")).isEqualTo(meters.degraded("corrupt"));
			assertThat(fault.opened()).isEmpty();
			assertThat(meters.clockSkew()).isBetween(-1.0, 1.0);
		}
	}

	private static void assertNoErrors(FaultCase fault) {
		assertThat(fault.calls().total(Calls::serverErrors)).as(fault.decisions().toString()).isZero();
		assertThat(fault.calls().total(Calls::failures)).isZero();
	}

	private static boolean corrupt(TenantDecisions.Made made) {
		return made.degraded() && made.reason() == Decision.Reason.CORRUPT;
	}

	private static long degraded(FaultCase fault) {
		return Stream.of(Phase.BEFORE, Phase.DURING, Phase.AFTER)
			.mapToLong((phase) -> fault.decisions().count(phase, Decisions.Kind::degraded))
			.sum();
	}

	private static List<String> tenants() {
		return IntStream.range(0, TENANTS).mapToObj((i) -> "tenant-" + i).toList();
	}

}
