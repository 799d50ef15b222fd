package dev.ratelimit.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@ExtendWith(RedisServers.class)
class ChaosProxyIntegrationTests {

	private static final Duration SOON = Duration.ofMillis(200);

	private ChaosProxy proxy;

	private RedisClient client;

	@BeforeEach
	void start(RedisServer server) {
		this.proxy = ChaosProxy.before(server);
		RedisURI uri = this.proxy.uri();
		uri.setTimeout(Duration.ofSeconds(5));
		this.client = RedisClient.create(uri);
		this.client.setOptions(ClientOptions.builder().autoReconnect(false).build());
	}

	@AfterEach
	void stop() {
		this.client.close();
		this.proxy.close();
	}

	@Test
	void healthyProxyOnlyHandsOn(RedisServer server) {
		String large = "x".repeat(3_000_000);
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			connection.sync().set("key", large);
			assertThat(connection.sync().get("key")).isEqualTo(large);
		}
		assertThat(server.cli("STRLEN", "key")).isEqualTo("3000000");
	}

	@Test
	void closedClientIsClosedAtTheServerToo(RedisServer server) {
		int before = clients(server);
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			assertThat(clients(server)).isEqualTo(before + 1);
			assertThat(connection.sync().ping()).isEqualTo("PONG");
		}
		await().until(() -> clients(server) == before);
	}

	@Test
	void delayedRepliesComeLate() {
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			this.proxy.delayReplies(Duration.ofMillis(50), Duration.ofMillis(50));
			assertThat(ping(connection)).isGreaterThanOrEqualTo(Duration.ofMillis(50));
		}
	}

	@Test
	void delayedBytesKeepTheirOrder() {
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			this.proxy.delayReplies(Duration.ofMillis(1), Duration.ofMillis(5));
			List<RedisFuture<String>> replies = new ArrayList<>();
			for (int call = 0; call < 2_000; call++) {
				replies.add(connection.async().echo("call " + call));
			}
			this.proxy.heal();
			for (int call = 0; call < 2_000; call++) {
				assertThat(replies.get(call).toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join())
					.isEqualTo("call " + call);
			}
		}
	}

	@Test
	void narrowNetworkPassesNoMoreThanItsBandwidthAndLosesNothing(RedisServer server) {
		String large = "x".repeat(3_000_000);
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			this.proxy.shape(new Network(Duration.ZERO, Duration.ZERO, 0, 10_000_000));
			Instant start = Instant.now();
			connection.sync().set("key", large);
			assertThat(connection.sync().get("key")).isEqualTo(large);
			assertThat(Duration.between(start, Instant.now())).isGreaterThanOrEqualTo(Duration.ofMillis(600));
		}
	}

	@Test
	void lostPacketStallsItsConnection() {
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			this.proxy.shape(new Network(Duration.ZERO, Duration.ZERO, 1, 0));
			// The request and the reply.
			assertThat(ping(connection)).isGreaterThanOrEqualTo(Network.STALL.multipliedBy(2));
		}
	}

	@Test
	void swallowedConnectionStaysOpenAndDeadWhileNewOnesHeal() {
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			this.proxy.swallow();
			connection.setTimeout(SOON);
			assertThatExceptionOfType(RedisCommandTimeoutException.class).isThrownBy(() -> connection.sync().ping());
			this.proxy.heal();
			assertThatExceptionOfType(RedisCommandTimeoutException.class).isThrownBy(() -> connection.sync().ping());
			assertThat(connection.isOpen()).isTrue();
			try (StatefulRedisConnection<String, String> another = this.client.connect()) {
				assertThat(another.sync().ping()).isEqualTo("PONG");
			}
		}
	}

	@Test
	void connectionToASwallowingProxyIsAcceptedAndNeverAnswered() {
		this.proxy.swallow();
		RedisURI uri = this.proxy.uri();
		uri.setTimeout(SOON);
		assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(() -> this.client.connect(uri))
			.withRootCauseInstanceOf(RedisCommandTimeoutException.class);
		assertThat(this.proxy.accepted()).hasSize(1);
	}

	@Test
	void swallowedConnectionDoesNotLearnThatTheServerDied() {
		try (RedisServer server = RedisServer.start();
				ChaosProxy before = ChaosProxy.before(server);
				StatefulRedisConnection<String, String> connection = this.client.connect(before.uri())) {
			before.swallow();
			server.kill();
			connection.setTimeout(SOON);
			assertThatExceptionOfType(RedisCommandTimeoutException.class).isThrownBy(() -> connection.sync().ping());
			assertThat(connection.isOpen()).isTrue();
		}
	}

	@Test
	void refusingProxyResetsWhatIsOpenAndWhatComes() {
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			this.proxy.refuse();
			await().until(() -> !connection.isOpen());
			assertThatExceptionOfType(RedisException.class).isThrownBy(() -> this.client.connect());
			assertThat(this.proxy.accepted()).hasSize(2).isSorted();
		}
		this.proxy.heal();
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			assertThat(connection.sync().ping()).isEqualTo("PONG");
		}
	}

	@Test
	void connectionToADeadServerIsReset() {
		try (RedisServer server = RedisServer.start(); ChaosProxy before = ChaosProxy.before(server)) {
			server.kill();
			assertThatExceptionOfType(RedisConnectionException.class)
				.isThrownBy(() -> this.client.connect(before.uri()));
		}
	}

	private static Duration ping(StatefulRedisConnection<String, String> connection) {
		Instant start = Instant.now();
		connection.sync().ping();
		return Duration.between(start, Instant.now());
	}

	private static int clients(RedisServer server) {
		return Integer.parseInt(server.info("clients").get("connected_clients"));
	}

}
