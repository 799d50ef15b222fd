package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.store.FleetSums;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.PolicyStoreContract;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract on one Redis and on a cluster.
 */
@ExtendWith(RedisServers.class)
abstract class RedisPolicyStoreContract extends PolicyStoreContract {

	private final List<AutoCloseable> open = new ArrayList<>();

	/** A connection of its own, not made yet. */
	abstract RedisConnector connector();

	abstract List<RedisServer> servers();

	@Override
	protected synchronized PolicyStore open() {
		RedisConnector connector = connector();
		RedisSignals signals = RedisSignals.on(connector, "rl");
		this.open.add(signals);
		this.open.add(connector);
		connector.start(Duration.ofSeconds(10));
		PolicyStore store = RedisPolicyStore.on(connector, signals, "rl");
		signals.start();
		return store;
	}

	@Test
	void numbersOfInstancesAreAddedUpByName() {
		FleetSums one = sums();
		FleetSums other = sums();
		assertThat(add(one, "orders:3", 5, 1, 0)).containsExactly(5L, 1L, 0L);
		assertThat(add(other, "orders:3", 2, 2, 7)).containsExactly(7L, 3L, 7L);
		assertThat(add(other, "orders:4", 1, 0, 0)).containsExactly(1L, 0L, 0L);
		assertThat(add(one, "orders:3", 0, 0, 0)).containsExactly(7L, 3L, 7L);
	}

	private FleetSums sums() {
		RedisConnector connector = connector();
		this.open.add(connector);
		connector.start(Duration.ofSeconds(10));
		return RedisFleetSums.on(connector, "rl");
	}

	private static List<Long> add(FleetSums sums, String name, long... numbers) {
		return sums.add(name, LongStream.of(numbers).boxed().toList()).toCompletableFuture().join();
	}

	@Override
	protected void cutSubscriptions() {
		servers().forEach((server) -> server.cli("CLIENT", "KILL", "TYPE", "pubsub"));
	}

	@AfterEach
	void closeAll() throws Exception {
		for (AutoCloseable closeable : this.open) {
			closeable.close();
		}
	}

}
