package dev.ratelimit.benchmarks.chaos;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(RedisServers.class)
class ChaosCommandIntegrationTests {

	@TempDir
	private Path directory;

	@Test
	void commandLineNamesProxyAndControlPortAndEndsInTime(RedisServer server) throws IOException {
		Path json = this.directory.resolve("chaos.json");
		StringWriter out = new StringWriter();

		int exit = new CommandLine(new ChaosCommand()).setOut(new PrintWriter(out))
			.execute("--before", "127.0.0.1:" + server.port(), "--fault", "latency=5ms", "--fault", "link=cut", "--for",
					"PT0.1S", "--json", json.toString());

		assertThat(exit).isZero();
		assertThat(out.toString()).contains("leads to " + server.port() + " with link=cut&latency=5ms",
				"control: curl");
		JsonNode written = new ObjectMapper().readTree(json.toFile());
		assertThat(written.toString()).contains("\"before\":" + server.port());
	}

	@Test
	void mistakesInTheOptionsEndTheCommand() {
		assertThat(new CommandLine(new ChaosCommand()).execute("--before", "192.0.2.1:6379")).isEqualTo(2);
		assertThat(new CommandLine(new ChaosCommand()).execute("--before", "127.0.0.1:1", "--fault", "delay=5ms"))
			.isEqualTo(2);
	}

	@Test
	void faultsAreSwitchedOverHttp(RedisServer server) throws Exception {
		try (ProxiedNodes nodes = ProxiedNodes.before(List.of("127.0.0.1:" + server.port()), List.of());
				ControlPort control = new ControlPort(nodes, 0);
				RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", nodes.nodes().get(0).port()));
				StatefulRedisConnection<String, String> connection = client.connect()) {
			assertThat(connection.sync().ping()).isEqualTo("PONG");

			assertThat(send("POST", control, "latency=60ms&node=" + server.port()).body()).contains("latency=60ms");
			long start = System.nanoTime();
			connection.sync().ping();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(60));

			send("POST", control, "link=cut");
			await().until(() -> !connection.isOpen());
			assertThat(send("DELETE", control, "").body()).contains("link=open&latency=0ms");
			await().until(connection::isOpen);

			HttpResponse<String> mistake = send("POST", control, "link=down");
			assertThat(mistake.statusCode()).isEqualTo(400);
			assertThat(mistake.body()).contains("open, cut or half-open");
			assertThat(send("POST", control, "node=1").statusCode()).isEqualTo(400);
			assertThat(send("PUT", control, "").statusCode()).isEqualTo(405);
		}
	}

	@Test
	void clientsOfAClusterAreLedThroughTheProxiesOfItsNodes(RedisCluster cluster) {
		List<Integer> own = cluster.servers().stream().map(RedisServer::port).toList();
		RedisServer first = cluster.servers().get(0);
		try (ProxiedNodes nodes = ProxiedNodes.beforeClusterOf("127.0.0.1:" + first.port())) {
			List<Integer> proxies = nodes.nodes().stream().map(ProxiedNodes.Node::port).toList();
			assertThat(nodes.nodes()).extracting(ProxiedNodes.Node::before).containsExactlyInAnyOrderElementsOf(own);
			await().atMost(Duration.ofSeconds(30))
				.until(() -> proxies.stream()
					.allMatch((port) -> first.cli("CLUSTER", "NODES").contains(":" + port + "@")));

			try (RedisClusterClient client = RedisClusterClient
				.create(RedisURI.create("127.0.0.1", nodes.nodes().get(0).port()));
					StatefulRedisClusterConnection<String, String> connection = client.connect()) {
				for (int key = 0; key < 50; key++) {
					connection.sync().set("key" + key, "value");
				}
				assertThat(client.getPartitions()).extracting((node) -> node.getUri().getPort())
					.containsExactlyInAnyOrderElementsOf(proxies);
			}
			assertThat(nodes.nodes().stream().filter((node) -> node.accepted() > 0).count()).isGreaterThanOrEqualTo(3);
			nodes.change(null, Map.of("link", "open"));
		}
		await().atMost(Duration.ofSeconds(30))
			.until(() -> own.stream().allMatch((port) -> first.cli("CLUSTER", "NODES").contains(":" + port + "@")));
	}

	private static HttpResponse<String> send(String method, ControlPort control, String query) throws Exception {
		URI uri = URI.create("http://127.0.0.1:" + control.port() + "/?" + query);
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build(),
					HttpResponse.BodyHandlers.ofString());
	}

}
