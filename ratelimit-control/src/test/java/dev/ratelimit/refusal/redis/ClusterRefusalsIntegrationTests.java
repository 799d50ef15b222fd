package dev.ratelimit.redis;

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
