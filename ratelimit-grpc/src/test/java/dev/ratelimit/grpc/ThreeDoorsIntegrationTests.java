package dev.ratelimit.grpc;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Channel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

import dev.ratelimit.gateway.RateLimitGatewayFilterFactory;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One limit holds over HTTP, the native service and Envoy's, in two instances on one
 * Redis.
 */
@ExtendWith(RedisServers.class)
class ThreeDoorsIntegrationTests {

	private static final int CALLS_PER_DOOR = 100;

	private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	@Test
	void threeDoorsAdmitALimitExactlyOnce(RedisServer redis) {
		String[] properties = { "ratelimit.backend=redis", "spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port(), "ratelimit.policies.orders.enforcement=strict",
				"ratelimit.policies.orders.on-failure=deny", "ratelimit.policies.orders.timeout=2s",
				"ratelimit.policies.orders.limits.per-ip.by=ip",
				"ratelimit.policies.orders.limits.per-ip.quota=100/d" };
		List<String> grpc = new ArrayList<>(List.of(properties));
		grpc.addAll(List.of(GrpcApplication.TRUSTED, "ratelimit.grpc.envoy.domains.edge.policy=orders",
				"ratelimit.grpc.envoy.domains.edge.entries.remote_address=ip"));
		try (ConfigurableApplicationContext gateway = gateway(properties);
				GrpcApplication server = GrpcApplication.start(grpc.toArray(String[]::new))) {
			URI uri = URI
				.create("http://127.0.0.1:" + gateway.getEnvironment().getProperty("local.server.port") + "/orders");
			Channel channel = server.channel();
			List<CompletableFuture<String>> calls = new ArrayList<>();
			for (int i = 0; i < CALLS_PER_DOOR; i++) {
				calls.add(overHttp(uri));
				calls.add(overGrpc(channel));
				calls.add(throughEnvoy(channel));
			}
			Map<String, Long> answers = calls.stream()
				.map(CompletableFuture::join)
				.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
			assertThat(answers).isEqualTo(Map.of("admitted", 100L, "refused", 200L));
		}
	}

	private CompletableFuture<String> overHttp(URI uri) {
		return this.http.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
			.thenApply((response) -> switch (response.statusCode()) {
				case 200 -> "admitted";
				case 429 -> "refused";
				default -> "HTTP " + response.statusCode();
			});
	}

	private static CompletableFuture<String> overGrpc(Channel channel) {
		FirstAnswer<CheckResponse> answer = new FirstAnswer<>();
		RateLimiterGrpc.newStub(channel)
			.check(CheckRequest.newBuilder().setPolicy("orders").putDimensions("ip", "127.0.0.1").build(), answer);
		return answer.message().thenApply((response) -> response.getAllowed() ? "admitted" : "refused");
	}

	private static CompletableFuture<String> throughEnvoy(Channel channel) {
		RateLimitRequest.Builder message = RateLimitRequest.newBuilder().setDomain("edge");
		message.addDescriptorsBuilder().addEntriesBuilder().setKey("remote_address").setValue("127.0.0.1");
		FirstAnswer<RateLimitResponse> answer = new FirstAnswer<>();
		RateLimitServiceGrpc.newStub(channel).shouldRateLimit(message.build(), answer);
		return answer.message().thenApply((response) -> switch (response.getOverallCode()) {
			case OK -> "admitted";
			case OVER_LIMIT -> response.getStatuses(0).hasCurrentLimit() ? "refused" : "not decided";
			default -> response.getOverallCode().name();
		});
	}

	private static ConfigurableApplicationContext gateway(String... properties) {
		List<String> arguments = new ArrayList<>(
				List.of("--spring.main.web-application-type=reactive", "--server.port=0", "--server.address=127.0.0.1",
						"--spring.main.banner-mode=off", "--spring.reactor.netty.shutdown-quiet-period=0s"));
		for (String property : properties) {
			arguments.add("--" + property);
		}
		return new SpringApplicationBuilder(Gateway.class).run(arguments.toArray(String[]::new));
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	static class Gateway {

		@Bean
		RouteLocator routes(RouteLocatorBuilder routes, RateLimitGatewayFilterFactory limits) {
			return routes.routes()
				.route("orders",
						(route) -> route.path("/orders")
							.filters((filters) -> filters.filter(limits.apply((config) -> config.setPolicy("orders")))
								.setPath("/upstream"))
							.uri("forward:///"))
				.build();
		}

		@Bean
		RouterFunction<ServerResponse> upstream() {
			return RouterFunctions.route().GET("/upstream", (request) -> ServerResponse.ok().build()).build();
		}

		@Bean
		SecurityWebFilterChain open(ServerHttpSecurity http) {
			return http.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll()).build();
		}

	}

}
