package dev.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class ClusterPulseIntegrationTests extends PulseContract {

	private static RedisClusterClient client;

	@BeforeAll
	static void open() {
		client = RedisClusterClient.create(RedisServers.cluster().uris());
		client.setOptions(ClusterClientOptions.builder()
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.build());
	}

	@AfterAll
	static void close() {
		client.shutdownAsync();
	}

	@Override
	RedisConnector connector() {
		return RedisConnector.to(client);
	}

	@Override
	RedisServer server() {
		return RedisServers.cluster().primaryOf(INSTANCES);
	}

}
