package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.protocol.ProtocolVersion;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

class RedisSignalsIntegrationTests extends SignalsContract {

	@Override
	RedisConnector connector() {
		return Connections.standaloneConnector();
	}

	@Override
	List<RedisServer> servers() {
		return List.of(RedisServers.standalone());
	}

	@Test
	void serverThatFallsSilentIsSubscribedToAgain() {
		Instance one = new Instance(connector());
		this.instances.add(one);
		within(5).until(() -> one.missed.get() == 1);
		RedisServer server = RedisServers.standalone();
		String before = subscriber(server);
		server.freeze();
		// Longer than a connection may be silent after it was asked, and the sign of
		// life.
		Awaitility.await().pollDelay(Duration.ofSeconds(5)).until(() -> true);
		server.thaw();
		within(5).until(() -> one.missed.get() == 2);
		assertThat(subscriber(server)).isNotEqualTo(before);
	}

	private static String subscriber(RedisServer server) {
		return server.cli("CLIENT", "LIST", "TYPE", "pubsub").split(" ")[0];
	}

	@Test
	void olderProtocolWorksToo() {
		RedisClient older = RedisClient.create(Connections.resources(), RedisServers.standalone().uri());
		older
			.setOptions(ClientSettings.options(ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build()));
		Instance one = new Instance(RedisConnector.to(older, "redis"));
		within(5).until(() -> one.missed.get() == 1);
		long before = RedisServers.standalone().calls("subscribe");
		within(10).until(() -> RedisServers.standalone().calls("subscribe") >= before + 2);
		assertThat(one.missed).hasValue(1);
		one.close();
		older.shutdownAsync();
	}

}
