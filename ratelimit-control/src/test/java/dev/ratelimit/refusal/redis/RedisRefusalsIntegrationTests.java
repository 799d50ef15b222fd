package dev.ratelimit.redis;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class RedisRefusalsIntegrationTests extends RefusalsContract {

	@Override
	RedisConnector connector() {
		return Connections.standaloneConnector();
	}

	@Override
	RedisServer server() {
		return RedisServers.standalone();
	}

}
