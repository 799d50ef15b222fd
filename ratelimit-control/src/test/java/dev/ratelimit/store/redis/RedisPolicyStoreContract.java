package dev.ratelimit.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.PolicyStoreContract;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

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
		RedisPolicyStore store = new RedisPolicyStore(RedisSender.on(connector), signals, connector(), "rl", "rl");
		this.open.add(store);
		signals.start();
		return store;
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
