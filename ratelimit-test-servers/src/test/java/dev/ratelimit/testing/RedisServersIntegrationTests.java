package dev.ratelimit.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

@ExtendWith(RedisServers.class)
class RedisServersIntegrationTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@Test
	void standaloneAnswers(RedisServer server) {
		assertThat(server.cli("PING")).isEqualTo("PONG");
		assertThat(server).isSameAs(RedisServers.standalone());
	}

	@Test
	void frozenServerDoesNotAnswerUntilItIsThawed(RedisServer server) {
		try (RedisClient client = RedisClient.create(server.uri());
				StatefulRedisConnection<String, String> connection = client.connect()) {
			// Not for the handshake, which is slow on a busy machine.
			connection.setTimeout(Duration.ofMillis(200));
			server.freeze();
			assertThatExceptionOfType(RedisCommandTimeoutException.class).isThrownBy(() -> connection.sync().ping());
			assertThat(server.alive()).isTrue();
			server.thaw();
			await().ignoreExceptions().until(() -> connection.sync().ping().equals("PONG"));
		}
	}

	@Test
	void killedServerComesBackEmptyOnTheSamePort() {
		try (RedisServer server = RedisServer.start()) {
			int port = server.port();
			long pid = server.pid();
			server.cli("SET", "key", "value");
			server.kill();
			assertThat(server.alive()).isFalse();
			assertThat(ProcessHandle.of(pid)).isEmpty();
			server.restart();
			assertThat(server.port()).isEqualTo(port);
			assertThat(server.pid()).isNotEqualTo(pid);
			assertThat(server.cli("DBSIZE")).isEqualTo("0");
		}
	}

	@Test
	void resetEmptiesThawsAndRestarts(RedisServer server) {
		server.cli("SET", "key", "value");
		server.freeze();
		RedisServers.reset();
		assertThat(server.cli("DBSIZE")).isEqualTo("0");
		server.kill();
		RedisServers.reset();
		assertThat(server.cli("PING")).isEqualTo("PONG");
	}

	@Test
	void whatATestSavedIsNotLoadedInTheNext(RedisServer server) {
		server.cli("SET", "key", "value");
		server.cli("SAVE");
		server.restart();
		assertThat(server.cli("GET", "key")).isEqualTo("value");
		RedisServers.reset();
		server.restart();
		assertThat(server.cli("DBSIZE")).isEqualTo("0");
	}

	@Test
	void privateServerTakesOptions() {
		try (RedisServer server = RedisServer.start("--maxmemory", "5mb")) {
			assertThat(server.cli("CONFIG", "GET", "maxmemory")).isEqualTo("maxmemory\n5242880");
		}
	}

	@Test
	void failedStartTellsWhatTheServerSaid() {
		assertThatIllegalStateException().isThrownBy(() -> RedisServer.start("--no-such-option", "1"))
			.withMessageContaining("did not start")
			.withMessageContaining("no-such-option");
	}

	@Test
	void clusterHasThreePrimariesAndThreeReplicas(RedisCluster cluster) {
		assertThat(cluster.servers()).hasSize(6);
		assertThat(cluster.servers()).filteredOn((server) -> server.cli("ROLE").startsWith("master")).hasSize(3);
		try (RedisClusterClient client = RedisClusterClient.create(cluster.uris());
				StatefulRedisClusterConnection<String, String> connection = client.connect()) {
			for (String key : new String[] { "one", "two", "three", "four", "five", "six" }) {
				connection.sync().set(key, "value of " + key);
				assertThat(cluster.primaryOf(key).cli("GET", key)).isEqualTo("value of " + key);
			}
			cluster.flush();
			assertThat(connection.sync().dbsize()).isZero();
		}
	}

	@Test
	void clusterIsMadeWholeAfterAFailover() {
		try (RedisCluster cluster = RedisCluster.start()) {
			RedisServer before = cluster.primaryOf("key");
			before.kill();
			await().atMost(PATIENCE).until(() -> cluster.primaryOf("key") != before);
			cluster.reset();
			assertThat(before.cli("ROLE")).startsWith("slave");
			assertThat(cluster.servers()).filteredOn((server) -> server.cli("ROLE").startsWith("master")).hasSize(3);
		}
	}

	@Test
	void sentinelUriLeadsToThePrimary(RedisSentinels sentinels) {
		try (RedisClient client = RedisClient.create(sentinels.uri());
				StatefulRedisConnection<String, String> connection = client.connect()) {
			connection.sync().set("key", "value");
			assertThat(sentinels.primary().cli("GET", "key")).isEqualTo("value");
			assertThat(sentinels.replica().cli("ROLE")).startsWith("slave");
		}
	}

	@Test
	void sentinelFailoverIsFollowed() {
		try (RedisSentinels sentinels = RedisSentinels.start();
				RedisClient client = RedisClient.create(sentinels.uri());
				StatefulRedisConnection<String, String> connection = client.connect()) {
			connection.setTimeout(Duration.ofSeconds(1));
			RedisServer before = sentinels.primary();
			RedisServer after = sentinels.replica();
			before.kill();
			await().atMost(PATIENCE)
				.ignoreExceptions()
				.until(() -> connection.sync().set("key", "value").equals("OK") && sentinels.primary() == after);
			assertThat(after.cli("GET", "key")).isEqualTo("value");
			sentinels.reset();
			assertThat(sentinels.replica()).isSameAs(before);
			assertThat(before.cli("ROLE")).startsWith("slave");
		}
	}

	@Test
	void killedJvmLeavesNoServerBehind() throws IOException {
		Process jvm = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), StartServer.class.getName())
			.redirectErrorStream(true)
			.start();
		try (BufferedReader output = new BufferedReader(
				new InputStreamReader(jvm.getInputStream(), StandardCharsets.UTF_8))) {
			String line = output.lines().filter((text) -> text.startsWith("pid=")).findFirst().orElseThrow();
			long pid = Long.parseLong(line.substring("pid=".length()));
			assertThat(ProcessHandle.of(pid)).isPresent();
			jvm.destroyForcibly();
			await().atMost(PATIENCE).until(() -> ProcessHandle.of(pid).isEmpty());
		}
	}

	/** Starts a server and waits to be killed. */
	static final class StartServer {

		private StartServer() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			System.out.println("pid=" + RedisServer.start().pid());
			Thread.currentThread().join();
		}

	}

}
