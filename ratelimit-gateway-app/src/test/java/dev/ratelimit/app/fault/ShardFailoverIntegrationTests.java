package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

class ShardFailoverIntegrationTests {

	/** What a primary may have counted last without its replica hearing of it. */
	private static final Duration REPLICATION_LAG = Duration.ofSeconds(1);

	/** Comes back to a quota of a month within a case, at most. */
	private static final long REFILL = 2;

	private final TenantDecisions seen = new TenantDecisions();

	@Test
	void killedPrimaryCostsOtherShardsNothingAndItsOwnOnlyWhatWasNotReplicated() {
		// Two thirds of it are used up before the primary is killed, the rest soon after.
		long limit = Faults.rate() / (2 * ShardTenants.EACH) * Faults.phase().toMillis() * 3 / 2_000;
		try (RedisCluster cluster = RedisCluster.start()) {
			ShardTenants tenants = ShardTenants.of(cluster);
			String key = ShardTenants.key(tenants.here().get(0));
			RedisServer primary = cluster.primaryOf(key);
			RedisServer replica = cluster.replicaOf(key);
			try (FaultCase fault = start(cluster, tenants, limit)) {
				tenants.begin();
				fault.before();
				AtomicLong killed = new AtomicLong();
				fault.during(() -> {
					killed.set(System.nanoTime());
					primary.kill();
				});
				fault.after(() -> cluster.awaitPrimaryOf(key, replica));
				assertThat(fault.calls().total(Calls::serverErrors)).isZero();
				assertThat(fault.calls().total(Calls::failures)).isZero();
				assertUnaffected(tenants.elsewhere());
				tenants.here().forEach((tenant) -> assertAdmitted(tenant, limit, killed.get()));
				new Meters(fault).assertOutage();
			}
		}
	}

	private FaultCase start(RedisCluster cluster, ShardTenants tenants, long limit) {
		return FaultCase.start("primary of one shard killed, replica promoted; on-failure: allow, " + Faults.timeout(),
				Gateway.on(cluster)
					.listener(this.seen)
					.policy("on-failure=allow", Faults.timeout(), "limits.per-tenant.by=tenant",
							"limits.per-tenant.quota=" + limit + "/31d"),
				tenants);
	}

	private void assertUnaffected(List<String> tenants) {
		List<TenantDecisions.Made> made = this.seen.of(tenants);
		System.out.printf("  other shards: %d decisions, %d degraded%n", made.size(),
				made.stream().filter(TenantDecisions.Made::degraded).count());
		assertThat(made).isNotEmpty().noneMatch(TenantDecisions.Made::degraded);
	}

	private void assertAdmitted(String tenant, long limit, long killed) {
		List<TenantDecisions.Made> made = this.seen.of(tenant);
		long granted = made.stream().filter(TenantDecisions.Made::granted).count();
		long free = made.stream().filter((decision) -> decision.allowed() && decision.degraded()).count();
		long mayBeLost = made.stream()
			.filter(TenantDecisions.Made::granted)
			.filter((decision) -> decision.nanos() < killed && decision.nanos() > killed - REPLICATION_LAG.toNanos())
			.count();
		System.out.printf("  a tenant of the killed shard: limit %d, admitted by counters %d, by the failure mode %d%n",
				limit, granted, free);
		assertThat(granted).isLessThanOrEqualTo(limit + mayBeLost + REFILL);
		assertThat(made).anyMatch((decision) -> decision.refused() && decision.nanos() > killed);
	}

}
