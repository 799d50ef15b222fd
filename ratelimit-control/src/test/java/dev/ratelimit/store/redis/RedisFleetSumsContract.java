package dev.ratelimit.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.store.FleetSumsContract;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

/**
 * The contract on one Redis and on a cluster.
 */
@ExtendWith(RedisServers.class)
abstract class RedisFleetSumsContract extends FleetSumsContract {

	private final List<RedisConnector> connectors = new ArrayList<>();

	/** A connection of its own, not made yet. */
	abstract RedisConnector connector();

	abstract List<RedisServer> servers();

	@Override
	protected PolicyStore open() {
		RedisConnector connector = connector();
		this.connectors.add(connector);
		connector.start(Duration.ofSeconds(10));
		return new RedisPolicyStore(RedisSender.on(connector), RedisSignals.on(connector, "rl"), connector, "rl", "rl");
	}

	@Override
	protected void age(Duration time) {
		for (RedisServer server : servers()) {
			// Replicas have the keys too, but no say.
			if (!server.info("replication").get("role").equals("master")) {
				continue;
			}
			for (String key : server.cli("KEYS", "*").lines().toList()) {
				long left = Long.parseLong(server.cli("PTTL", key));
				server.cli("PEXPIRE", key, Long.toString(left - time.toMillis()));
			}
		}
	}

	@AfterEach
	void closeAll() {
		this.connectors.forEach(RedisConnector::close);
	}

}
