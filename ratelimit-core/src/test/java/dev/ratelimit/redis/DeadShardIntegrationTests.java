package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * One primary of a cluster whose packets are lost, while the cluster itself sees nothing
 * of it.
 */
@ExtendWith(RedisServers.class)
class DeadShardIntegrationTests {

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "1000000/s");

	private final AtomicInteger failures = new AtomicInteger();

	private final AtomicInteger failuresElsewhere = new AtomicInteger();

	@Test
	void keysOfOtherShardsAreNotAffectedAndItsOwnAreCountedAgainWhenPacketsPass(RedisCluster cluster) {
		RedisServer sick = cluster.primaryOf(counter(0).key());
		List<Counter> own = counters(5, (key) -> cluster.primaryOf(key) == sick);
		List<Counter> elsewhere = counters(5, (key) -> cluster.primaryOf(key) != sick);
		ScheduledExecutorService load = Executors.newSingleThreadScheduledExecutor();
		try (ChaosProxy proxy = ChaosProxy.before(sick);
				Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());
				RedisConnector connector = connector(cluster, proxy)) {
			Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());
			Counters counters = new GuardedCounters(RedisCounters.on(connector), nodes, deadlines, Duration.ZERO);
			AtomicInteger turns = new AtomicInteger();
			load.scheduleAtFixedRate(() -> {
				int turn = turns.getAndIncrement() % 5;
				check(counters, own.get(turn), Duration.ofMillis(50), this.failures);
				check(counters, elsewhere.get(turn), Duration.ofSeconds(2), this.failuresElsewhere);
			}, 0, 5, TimeUnit.MILLISECONDS);
			await().until(() -> turns.get() > 200);
			proxy.swallow();
			await().until(() -> nodes.states().containsValue(BreakerState.OPEN));
			int opened = turns.get();
			await().until(() -> turns.get() > opened + 600);
			proxy.heal();
			await().atMost(Duration.ofSeconds(30)).until(() -> !nodes.states().containsValue(BreakerState.OPEN));
			assertThat(this.failures).hasPositiveValue();
			assertThat(this.failuresElsewhere).hasValue(0);
		}
		finally {
			load.shutdownNow();
		}
	}

	private static void check(Counters counters, Counter counter, Duration timeout, AtomicInteger failures) {
		counters.acquire(List.of(counter), Permits.exactly(1), timeout)
			.whenComplete((grant, failure) -> failures.addAndGet((failure != null || !grant.complete()) ? 1 : 0));
	}

	static RedisConnector connector(RedisCluster cluster, ChaosProxy proxy) {
		Map<HostAndPort, HostAndPort> detour = Map.of(
				HostAndPort.of(proxy.target().getHostString(), proxy.target().getPort()),
				HostAndPort.of(proxy.host(), proxy.port()));
		ClientResources resources = ClientResources.builder()
			.socketAddressResolver(MappingSocketAddressResolver.create(DnsResolvers.UNRESOLVED,
					(address) -> detour.getOrDefault(address, address)))
			.build();
		List<RedisURI> uris = cluster.uris();
		uris.forEach((uri) -> uri.setTimeout(ClientSettings.COMMAND_TIMEOUT));
		RedisClusterClient client = RedisClusterClient.create(ClientSettings.resources(resources), uris);
		client.setOptions(ClientSettings.clusterOptions(ClientOptions.create()));
		RedisConnector connector = RedisConnector.to(client);
		assertThat(connector.start(Duration.ofSeconds(10))).isTrue();
		return connector;
	}

	private static List<Counter> counters(int number, Predicate<String> key) {
		return IntStream.range(0, 1_000)
			.mapToObj(DeadShardIntegrationTests::counter)
			.filter((counter) -> key.test(counter.key()))
			.limit(number)
			.toList();
	}

	private static Counter counter(int tenant) {
		return new Counter(new CounterSpec(Algorithm.GCRA, PER_TENANT),
				new CounterKeys("rl").key("orders", Algorithm.GCRA, PER_TENANT, List.of("tenant" + tenant)));
	}

}
