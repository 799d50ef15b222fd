package dev.ratelimit.app;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The point of it all: a limit holds across the fleet, not per instance.
 */
@ExtendWith(RedisServers.class)
class TwoGatewaysIntegrationTests {

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	@Test
	void twoGatewaysAdmitALimitExactlyOnce(RedisServer redis) {
		try (ConfigurableApplicationContext one = start(redis); ConfigurableApplicationContext other = start(redis)) {
			List<URI> gateways = List.of(uri(one), uri(other));
			List<CompletableFuture<Integer>> calls = IntStream.range(0, 300)
				.mapToObj((i) -> call(gateways.get(i % 2)))
				.toList();
			Map<Integer, Long> byStatus = calls.stream()
				.map(CompletableFuture::join)
				.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
			assertThat(byStatus).isEqualTo(Map.of(200, 100L, 429, 200L));
		}
	}

	private CompletableFuture<Integer> call(URI uri) {
		return this.client.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
			.thenApply(HttpResponse::statusCode);
	}

	private static ConfigurableApplicationContext start(RedisServer redis) {
		return new SpringApplicationBuilder(RateLimitGatewayApplication.class).profiles("demo", "two-gateways")
			.run("--server.port=0", "--management.server.port=-1", "--spring.data.redis.host=" + redis.host(),
					"--spring.data.redis.port=" + redis.port());
	}

	private static URI uri(ConfigurableApplicationContext gateway) {
		return URI.create("http://localhost:" + gateway.getEnvironment().getProperty("local.server.port") + "/exact");
	}

}
