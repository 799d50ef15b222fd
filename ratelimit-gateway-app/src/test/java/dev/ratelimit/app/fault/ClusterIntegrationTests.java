package dev.ratelimit.app.fault;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.limiter.CallerUsage;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Resharding;

import static org.assertj.core.api.Assertions.assertThat;

/** What happens to a cluster without any node being lost. */
@ExtendWith(RedisServers.class)
class ClusterIntegrationTests {

	private static final int MOVES = 6;

	private static final long LIMIT = 80_000;

	/** Comes back to a quota of a month within a case, at most. */
	private static final long REFILL = 3;

	private static final TenantDecisions SEEN = new TenantDecisions();

	private static ShardTenants tenants;

	private static Gateways gateways;

	@BeforeAll
	static void start(RedisCluster cluster) {
		tenants = ShardTenants.of(cluster);
		gateways = Gateways.start(Gateway.on(cluster)
			.listener(SEEN)
			.policy("on-failure=deny", Faults.timeout(), "limits.per-tenant.by=tenant",
					"limits.per-tenant.quota=" + LIMIT + "/31d", "limits.per-ip.by=tenant,ip",
					"limits.per-ip.quota=" + LIMIT + "/31d"),
				tenants);
	}

	@AfterAll
	static void stop() {
		gateways.close();
	}

	@BeforeEach
	void forget() {
		SEEN.forget();
		tenants.begin();
	}

	@Test
	void frozenShardCostsTheOthersNothing(RedisCluster cluster) {
		RedisServer primary = cluster.primaryOf(ShardTenants.key(tenants.here().get(0)));
		try (FaultCase fault = gateways.fault("primary of one shard frozen; on-failure: deny, " + Faults.timeout())) {
			fault.before();
			fault.during(Faults.silence(), primary::freeze);
			fault.after(primary::thaw);
			List<TenantDecisions.Made> others = SEEN.of(tenants.elsewhere());
			System.out.printf("  other shards: %d decisions, %d degraded%n", others.size(),
					others.stream().filter(TenantDecisions.Made::degraded).count());
			assertThat(SEEN.of(tenants.here())).anyMatch(TenantDecisions.Made::degraded);
			assertThat(others).isNotEmpty().noneMatch(TenantDecisions.Made::degraded);
			assertThat(fault.calls().total(Calls::failures)).isZero();
		}
	}

	@Test
	void movingSlotRefusesNobodyAndChargesNothingTwice(RedisCluster cluster) {
		String tenant = tenants.here().get(0);
		try (FaultCase fault = gateways.fault(MOVES + " moves of a slot; " + Faults.timeout())) {
			fault.before();
			fault.during(() -> IntStream.range(0, MOVES).forEach((i) -> move(cluster, ShardTenants.key(tenant))));
			fault.after(() -> {
			});
			List<TenantDecisions.Made> made = SEEN.of(tenant);
			List<Long> used = used(tenant);
			System.out.printf("  %d decisions for the tenant, counted for it and its address: %s%n", made.size(), used);
			assertThat(fault.calls().total(Calls::admitted)).as(fault.decisions().toString())
				.isEqualTo(fault.calls().total(Calls::sent));
			assertThat(made).isNotEmpty().allMatch(TenantDecisions.Made::granted);
			assertThat(used).hasSize(2)
				.allSatisfy((counted) -> assertThat(counted).isBetween(made.size() - REFILL, (long) made.size()));
		}
	}

	@Test
	void flushedScriptIsSentAgainWithItsTextAndNobodyNotices(RedisCluster cluster) {
		List<RedisServer> primaries = cluster.primaries();
		try (FaultCase fault = gateways.fault("SCRIPT FLUSH on every node; " + Faults.timeout())) {
			fault.before();
			fault.during(() -> primaries.forEach((server) -> server.cli("SCRIPT", "FLUSH")));
			fault.after(() -> {
			});
			List<Long> sent = texts(primaries);
			System.out.printf("  calls with the text per primary: %s%n", sent);
			assertThat(fault.calls().total(Calls::admitted)).as(fault.decisions().toString())
				.isEqualTo(fault.calls().total(Calls::sent));
			assertThat(SEEN.of(tenants.all())).isNotEmpty().allMatch(TenantDecisions.Made::granted);
			assertThat(sent).allMatch((calls) -> calls > 0);
		}
	}

	private static void move(RedisCluster cluster, String key) {
		RedisServer owner = cluster.primaryOf(key);
		RedisServer next = cluster.primaries().stream().filter((server) -> server != owner).findFirst().orElseThrow();
		Resharding move = cluster.reshard(key, next).begin();
		move.moveOneKey();
		move.moveAll().finish();
	}

	private static List<Long> used(String tenant) {
		Request request = Request.of("fault").with(Dimension.TENANT, tenant).with(Dimension.IP, ShardTenants.ADDRESS);
		CallerUsage usage = gateways.all().get(0).context().getBean(PolicyRateLimiter.class).usage();
		return usage.read(usage.find(request, (limit) -> true), request)
			.toCompletableFuture()
			.join()
			.stream()
			.flatMap((limit) -> limit.statuses().stream())
			.map((status) -> LIMIT - status.remaining())
			.toList();
	}

	private static List<Long> texts(List<RedisServer> servers) {
		return servers.stream().map((server) -> server.calls("eval")).toList();
	}

}
