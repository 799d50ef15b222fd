package dev.ratelimit.redis;

import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class ClusterSignalsIntegrationTests extends SignalsContract {

	private static ClientResources resources;

	private static RedisClusterClient client;

	@BeforeAll
	static void open() {
		resources = ClientSettings.resources(ClientResources.create());
		client = RedisClusterClient.create(resources, RedisServers.cluster().uris());
		client.setOptions(ClientSettings.clusterOptions(ClientOptions.create()));
	}

	@AfterAll
	static void close() {
		client.shutdown();
		resources.shutdown();
	}

	@Override
	RedisConnector connector() {
		return RedisConnector.to(client);
	}

	@Override
	List<RedisServer> servers() {
		return RedisServers.cluster().servers();
	}

}
