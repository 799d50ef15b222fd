package dev.ratelimit.refusal.redis;

import dev.ratelimit.redis.Connections;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class ClusterRefusalsIntegrationTests extends RefusalsContract {

	@Override
	RedisConnector connector() {
		return Connections.clusterConnector();
	}

	@Override
	RedisServer server() {
		return RedisServers.cluster().primaryOf(HISTORY);
	}

}
