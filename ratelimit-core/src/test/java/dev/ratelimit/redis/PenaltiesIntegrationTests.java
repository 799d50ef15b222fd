package dev.ratelimit.redis;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class PenaltiesIntegrationTests extends PenaltyFleetContract {

	@Override
	RedisConnector connector() {
		return Connections.standaloneConnector();
	}

	@Override
	RedisCounters redis() {
		return Connections.standalone();
	}

	@Override
	RedisServer server(String key) {
		return RedisServers.standalone();
	}

}
