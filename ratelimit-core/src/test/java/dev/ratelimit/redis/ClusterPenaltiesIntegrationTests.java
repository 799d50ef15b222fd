package dev.ratelimit.redis;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class ClusterPenaltiesIntegrationTests extends PenaltyFleetContract {

	@Override
	RedisConnector connector() {
		return Connections.clusterConnector();
	}

	@Override
	RedisCounters redis() {
		return Connections.cluster();
	}

	@Override
	RedisServer server(String key) {
		return RedisServers.cluster().primaryOf(key);
	}

}
