package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Grants;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.NodeListener;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Resharding;

import static dev.ratelimit.counter.Grants.answered;
import static dev.ratelimit.counter.Grants.unanswered;
import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A tenant's slot moves to another node while its counters are in use.
 */
@ExtendWith(RedisServers.class)
class MovingSlotsIntegrationTests {

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "1000/d");

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "1000/d");

	private final Counter tenant = counter(PER_TENANT, "acme");

	private final Counter user = counter(PER_USER, "acme", "ann");

	private final CircuitBreakerRegistry breakers = CircuitBreakerRegistry.ofDefaults();

	/** Reasons for which nodes did not answer a check. */
	private final List<Decision.Reason> failures = new CopyOnWriteArrayList<>();

	private final Counters counters = Connections.guarded(Connections.cluster(), this.breakers,
			List.of(new NodeListener() {

				@Override
				public void failed(String node, Decision.Reason reason) {
					MovingSlotsIntegrationTests.this.failures.add(reason);
				}

			}));

	@Test
	void nothingIsChargedTwiceOrRefusedAtAnyStepOfTheMove(RedisCluster cluster) {
		Resharding move = cluster.reshard(this.tenant.key(), otherThan(cluster, this.tenant));
		assertThat(take(1).permits()).isOne();
		move.begin();
		assertThat(take(2).permits()).isEqualTo(2);
		move.move(this.tenant.key());
		assertThat(take(3).permits()).isEqualTo(3);
		assertThat(remaining()).containsExactly(994L, 994L);
		move.move(this.user.key());
		assertThat(take(4).permits()).isEqualTo(4);
		move.finish();
		assertThat(take(5).permits()).isEqualTo(5);
		assertThat(remaining()).containsExactly(985L, 985L);
	}

	@Test
	void refusalWhileTheSlotMovesTakesNothing(RedisCluster cluster) {
		take(10);
		Resharding move = cluster.reshard(this.tenant.key(), otherThan(cluster, this.tenant)).begin();
		move.move(this.tenant.key());
		Grant refused = answered(this.counters.acquire(
				List.of(this.tenant,
						counter(Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "5/d"), "acme", "ann")),
				Permits.exactly(9)));
		assertThat(refused.refused()).isTrue();
		move.moveAll();
		move.finish();
		assertThat(remaining()).containsExactly(990L, 990L);
	}

	@Test
	void giveBackFindsItsCountersWhileTheSlotMoves(RedisCluster cluster) {
		Grant grant = take(10);
		Resharding move = cluster.reshard(this.tenant.key(), otherThan(cluster, this.tenant)).begin();
		move.move(this.tenant.key());
		join(this.counters.giveBack(grant, 10));
		assertThat(remaining()).containsExactly(1_000L, 1_000L);
		move.moveAll();
		move.finish();
	}

	@Test
	void giveBackWhileTheSlotMovesIsDoneOnce(RedisCluster cluster) {
		take(10);
		Grant grant = take(10);
		Resharding move = cluster.reshard(this.tenant.key(), otherThan(cluster, this.tenant)).begin();
		move.move(this.tenant.key());
		join(this.counters.giveBack(grant, 3));
		assertThat(remaining()).containsExactly(983L, 983L);
		move.moveAll();
		move.finish();
	}

	@Test
	void settleWaitsUntilTheSlotHasMovedAndIsThenDoneAsAWhole(RedisCluster cluster) {
		Grant grant = take(10);
		Resharding move = cluster.reshard(this.tenant.key(), otherThan(cluster, this.tenant)).begin();
		move.move(this.tenant.key());
		CompletableFuture<Settlement> settled = this.counters
			.settle(new Correction("moving", grant, -7, System.nanoTime(), 0))
			.toCompletableFuture();
		assertThat(remaining()).containsExactly(990L, 990L);
		assertThat(settled).isNotDone();
		move.moveAll();
		move.finish();
		assertThat(settled).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(Settlement.REFUNDED);
		assertThat(remaining()).containsExactly(997L, 997L);
	}

	@Test
	void attemptIsCountedWithoutItsRecordWhileTheSlotMoves(RedisCluster cluster) {
		Attempt attempt = new Attempt("moving", Duration.ofMinutes(10).toNanos() / 1_000, 3);
		assertThat(AttemptReading.isReplay(take(attempt))).isFalse();
		assertThat(AttemptReading.isReplay(take(attempt))).isTrue();
		Resharding move = cluster.reshard(this.tenant.key(), otherThan(cluster, this.tenant)).begin();
		move.move(this.tenant.key());
		assertThat(this.failures).isEmpty();
		Grant counted = take(attempt);
		assertThat(this.failures).containsExactly(Decision.Reason.RESHARDING);
		assertThat(this.breakers.getAllCircuitBreakers()).isNotEmpty().allSatisfy((breaker) -> {
			assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
			assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isZero();
		});
		assertThat(counted.refused()).isFalse();
		assertThat(AttemptReading.isReplay(counted)).isFalse();
		assertThat(remaining(this.tenant)).isEqualTo(998);
		move.moveAll();
		move.finish();
		assertThat(AttemptReading.isReplay(take(attempt))).isTrue();
		assertThat(remaining(this.tenant)).isEqualTo(998);
	}

	/** With one counter: it and its record are two keys. */
	private Grant take(Attempt attempt) {
		return answered(
				this.counters.acquire(List.of(this.tenant), Permits.exactly(1), attempt, Counters.DEFAULT_TIMEOUT));
	}

	@Test
	void slotsThatMoveUnderLoadFailNobody(RedisCluster cluster) {
		take(1);
		List<CompletableFuture<Grant>> grants = new ArrayList<>();
		for (int round = 0; round < 4; round++) {
			Resharding move = cluster.reshard(this.tenant.key(), otherThan(cluster, this.tenant));
			load(grants);
			move.begin();
			load(grants);
			move.moveOneKey();
			load(grants);
			move.moveAll();
			load(grants);
			move.finish();
			load(grants);
			grants.forEach(Grants::answered);
		}
		assertThat(grants).allSatisfy((grant) -> assertThat(answered(grant).permits()).isOne());
		assertThat(grants).hasSize(400);
		assertThat(remaining()).containsExactly(599L, 599L);
	}

	@Test
	void slotThatNobodyHasIsAReasonOfItsOwn(RedisCluster cluster) {
		take(1);
		String slot = cluster.primaryOf(this.tenant.key()).cli("CLUSTER", "KEYSLOT", this.tenant.key());
		RedisServer owner = cluster.primaryOf(this.tenant.key());
		owner.cli("CLUSTER", "DELSLOTS", slot);
		try {
			Grant.Gap gap = unanswered(this.counters.acquire(List.of(this.tenant, this.user), Permits.exactly(1)));
			assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.CLUSTER_DOWN);
		}
		finally {
			owner.cli("CLUSTER", "ADDSLOTS", slot);
		}
	}

	private void load(List<CompletableFuture<Grant>> grants) {
		IntStream.range(0, 20)
			.forEach((i) -> grants
				.add(this.counters.acquire(List.of(this.tenant, this.user), Permits.exactly(1)).toCompletableFuture()));
	}

	private Grant take(long permits) {
		return answered(this.counters.acquire(List.of(this.tenant, this.user), Permits.exactly(permits)));
	}

	private List<Long> remaining() {
		return List.of(remaining(this.tenant), remaining(this.user));
	}

	private long remaining(Counter counter) {
		return answered(this.counters.acquire(List.of(counter), Permits.NONE)).statuses().get(0).remaining();
	}

	private static RedisServer otherThan(RedisCluster cluster, Counter counter) {
		RedisServer owner = cluster.primaryOf(counter.key());
		return cluster.primaries().stream().filter((server) -> server != owner).findFirst().orElseThrow();
	}

	private static Counter counter(Limit limit, String... values) {
		return new Counter(new CounterSpec(Algorithm.GCRA, limit),
				new CounterKeys("rl").key("orders", Algorithm.GCRA, limit, List.of(values)));
	}

}
