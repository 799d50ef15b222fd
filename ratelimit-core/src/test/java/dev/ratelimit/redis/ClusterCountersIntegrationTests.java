package dev.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static dev.ratelimit.counter.Grants.answered;
import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is particular to a cluster: slots, give-backs between them, scripts on every node.
 */
class ClusterCountersIntegrationTests {

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "1000/d");

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "100/d");

	private static final Limit PER_IP = Limit.of("per-ip", List.of(Dimension.IP), "50/d");

	private Counters counters;

	@BeforeEach
	void start() {
		this.counters = Connections.guarded(Connections.cluster());
	}

	@Test
	void countersOfOneTenantAreDecidedByOneCall() {
		List<Counter> counters = List.of(counter(PER_TENANT, "acme"), counter(PER_USER, "acme", "ann"));
		assertThat(SlotHash.getSlot(counters.get(0).key())).isEqualTo(SlotHash.getSlot(counters.get(1).key()));
		long before = evals();
		answered(this.counters.acquire(counters, Permits.exactly(1)));
		assertThat(evals() - before).isOne();
	}

	@Test
	void counterOfAnIpIsOnASlotOfItsOwn() {
		assertThat(
				IntStream.range(0, 100).map((i) -> SlotHash.getSlot(counter(PER_IP, "10.0.0." + i).key())).distinct())
			.hasSizeGreaterThan(90);
	}

	@ParameterizedTest
	@EnumSource
	void refusalOnOneSlotIsGivenBackOnTheOthers(Algorithm algorithm) {
		Counter tenant = counter(algorithm, PER_TENANT, "acme");
		Counter ip = counter(algorithm, PER_IP, otherSlot(tenant));
		answered(this.counters.acquire(List.of(ip), Permits.exactly(50)));
		Grant refused = answered(this.counters.acquire(List.of(tenant, ip), Permits.exactly(1)));
		assertThat(refused.refused()).isTrue();
		assertThat(refused.statuses()).extracting(LimitStatus::remaining).containsExactly(1_000L, 0L);
		assertThat(remaining(tenant)).isEqualTo(1_000);
	}

	@ParameterizedTest
	@EnumSource
	void slotsThatGrantUnequallyAreLevelled(Algorithm algorithm) {
		Counter tenant = counter(algorithm, PER_TENANT, "acme");
		Counter ip = counter(algorithm, PER_IP, otherSlot(tenant));
		Grant grant = answered(this.counters.acquire(List.of(tenant, ip), Permits.between(1, 80)));
		assertThat(grant.permits()).isEqualTo(50);
		assertThat(remaining(tenant)).isEqualTo(950);
	}

	@ParameterizedTest
	@EnumSource
	void refusalsUnderConcurrencyLeaveNothingBehind(Algorithm algorithm) {
		Counter tenant = counter(algorithm, PER_TENANT, "acme");
		List<Counter> ips = IntStream.range(0, 5).mapToObj((i) -> counter(algorithm, PER_IP, "10.0.0." + i)).toList();
		long admitted = 0;
		for (int round = 0; round < 5; round++) {
			List<CompletableFuture<Grant>> grants = IntStream.range(0, 200)
				.parallel()
				.mapToObj((i) -> this.counters.acquire(List.of(tenant, ips.get(i % 5)), Permits.exactly(1))
					.toCompletableFuture())
				.toList();
			admitted += grants.stream().mapToLong((grant) -> answered(grant).permits()).sum();
		}
		assertThat(admitted).isEqualTo(250);
		assertThat(remaining(tenant)).isEqualTo(750);
		assertThat(ips).allSatisfy((ip) -> assertThat(remaining(ip)).isZero());
	}

	@Test
	void everyNodeGetsTheScriptAgainAfterAScriptFlush() {
		answered(this.counters.acquire(List.of(counter(PER_IP, "10.0.0.1")), Permits.exactly(1)));
		Connections.clusterConnection().sync().scriptFlush();
		for (int i = 0; i < 50; i++) {
			Grant grant = answered(this.counters.acquire(List.of(counter(PER_IP, "10.0.0." + i)), Permits.exactly(1)));
			assertThat(grant.permits()).isOne();
		}
	}

	@Test
	void resetCrossesSlots() {
		List<Counter> counters = List.of(counter(PER_TENANT, "acme"), counter(PER_IP, "10.0.0.1"),
				counter(PER_IP, "10.0.0.2"));
		answered(this.counters.acquire(counters, Permits.exactly(7)));
		join(this.counters.reset(counters));
		assertThat(remaining(counters.get(0))).isEqualTo(1_000);
		assertThat(remaining(counters.get(1))).isEqualTo(50);
	}

	private String otherSlot(Counter counter) {
		return IntStream.range(0, 100)
			.mapToObj((i) -> "10.0.0." + i)
			.filter((ip) -> SlotHash.getSlot(counter(PER_IP, ip).key()) != SlotHash.getSlot(counter.key()))
			.findFirst()
			.orElseThrow();
	}

	private long remaining(Counter counter) {
		return answered(this.counters.acquire(List.of(counter), Permits.NONE)).statuses().get(0).remaining();
	}

	private static long evals() {
		return RedisServers.cluster()
			.servers()
			.stream()
			.map((server) -> stats(server))
			.flatMap(String::lines)
			.filter((line) -> line.startsWith("cmdstat_evalsha:calls=") || line.startsWith("cmdstat_eval:calls="))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(','))))
			.sum();
	}

	private static String stats(RedisServer server) {
		return server.cli("INFO", "commandstats");
	}

	private static Counter counter(Limit limit, String... values) {
		return counter(Algorithm.GCRA, limit, values);
	}

	private static Counter counter(Algorithm algorithm, Limit limit, String... values) {
		return new Counter(new CounterSpec(algorithm, limit),
				new CounterKeys("rl").key("test", algorithm, limit, List.of(values)));
	}

}
