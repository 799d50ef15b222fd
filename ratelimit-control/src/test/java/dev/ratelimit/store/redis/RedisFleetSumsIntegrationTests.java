package dev.ratelimit.store.redis;

import java.util.List;

import dev.ratelimit.redis.Connections;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class RedisFleetSumsIntegrationTests extends RedisFleetSumsContract {

	@Override
	RedisConnector connector() {
		return Connections.standaloneConnector();
	}

	@Override
	List<RedisServer> servers() {
		return List.of(RedisServers.standalone());
	}

}
