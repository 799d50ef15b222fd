package dev.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

class RedisHotKeysIntegrationTests extends HotKeysContract {

	private static RedisClient client;

	@BeforeAll
	static void open() {
		client = RedisClient.create(RedisServers.standalone().uri());
		client.setOptions(ClientSettings.options(ClientOptions.create()));
	}

	@AfterAll
	static void close() {
		client.shutdownAsync();
	}

	@Override
	RedisConnector connector() {
		return RedisConnector.to(client, "redis");
	}

	@Override
	RedisServer server() {
		return RedisServers.standalone();
	}

}
