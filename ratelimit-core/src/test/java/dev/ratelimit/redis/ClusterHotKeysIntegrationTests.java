package dev.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class ClusterHotKeysIntegrationTests extends HotKeysContract {

	private static RedisClusterClient client;

	@BeforeAll
	static void open() {
		client = RedisClusterClient.create(RedisServers.cluster().uris());
		client.setOptions(ClientSettings.clusterOptions(ClientOptions.create()));
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
		return RedisServers.cluster().primaryOf(MARKS);
	}

}
