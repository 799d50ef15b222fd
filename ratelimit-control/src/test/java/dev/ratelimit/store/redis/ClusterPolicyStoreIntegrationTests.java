package dev.ratelimit.store.redis;

import java.util.List;

import dev.ratelimit.redis.Connections;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class ClusterPolicyStoreIntegrationTests extends RedisPolicyStoreContract {

	@Override
	RedisConnector connector() {
		return Connections.clusterConnector();
	}

	@Override
	List<RedisServer> servers() {
		return RedisServers.cluster().servers();
	}

}
