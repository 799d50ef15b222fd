package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.route.InMemoryRouteDefinitionRepository;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.awaitility.Awaitility.await;

/**
 * What routes may say, and what stops the start.
 */
@ExtendWith(OutputCaptureExtension.class)
class RouteConfigurationTests {

	private static final String NEW = "spring.cloud.gateway.server.webflux.";

	private static final String OLD = "spring.cloud.gateway.";

	@Test
	void routesUnderTheOldPrefixWork() {
		limited(OLD + "routes[0].filters[0]=RateLimit=orders", OLD + "routes[0].filters[1]=SetPath=/upstream",
				OLD + "routes[0].predicates[0]=Path=/a", OLD + "routes[0].uri=forward:///", OLD + "routes[0].id=a");
	}

	@Test
	void defaultFilterLimitsEveryRoute() {
		limited(NEW + "default-filters[0]=RateLimit=orders", NEW + "routes[0].filters[0]=SetPath=/upstream",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///", NEW + "routes[0].id=a");
	}

	@Test
	void routeWithoutAnIdIsLimited() {
		limited(NEW + "routes[0].filters[0]=RateLimit=orders", NEW + "routes[0].filters[1]=SetPath=/upstream",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///");
	}

	@Test
	void routeWithoutAnIdThatNamesAnUnknownPolicyFails(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(NEW + "routes[0].filters[0]=RateLimit=ordres",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///"));
		assertThat(output).contains("The RateLimit filter of a route without an id names policy 'ordres'");
	}

	@Test
	void routeThatNamesAnUnknownPolicyFailsWithTheNearestName(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(NEW + "routes[0].filters[0]=RateLimit=ordres",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///", NEW + "routes[0].id=a"));
		assertThat(output).contains("The RateLimit filter of route 'a' names policy 'ordres', which does not exist.")
			.contains("Did you mean 'orders'?");
	}

	@Test
	void costAboveTheBurstIsWarnedAbout(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(NEW + "routes[0].filters[0]=RateLimit=orders,50",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///", NEW + "routes[0].id=a")) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).contains("route 'a' costs 50 permits, but policy 'orders' never has more than 3");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			redis-rate-limiter.replenishRate=0   | redis-rate-limiter.replenishRate cannot be 0.
			redis-rate-limiter.replenish-rate=-3 | redis-rate-limiter.replenishRate cannot be -3.
			redis-rate-limiter.requestedTokens=9 | redis-rate-limiter.requestedTokens cannot be 9.
			deny-empty-key=true                  | the RequestRateLimiter filter says nothing about its limit.
			""")
	void routeOfTheStandInThatCannotBeMeantStopsTheStart(String argument, String problem, CapturedOutput output) {
		List<String> route = new ArrayList<>(standIn(0));
		route.add(NEW + "routes[0].filters[0].args." + argument);
		if (argument.contains("requestedTokens")) {
			route.add(NEW + "routes[0].filters[0].args.redis-rate-limiter.replenishRate=1");
		}
		assertThatException().isThrownBy(() -> start(route.toArray(String[]::new)));
		assertThat(output).contains("route 'r0': " + problem).contains("Set 'redis-rate-limiter.");
	}

	@Test
	void limitOfTheStandInComesFromThePropertiesOfTheGatewaysLimiter() {
		List<String> routes = new ArrayList<>(standIn(0));
		routes.addAll(standIn(1));
		routes.addAll(List.of(NEW + "redis-rate-limiter.config.r0.replenish-rate=1",
				NEW + "redis-rate-limiter.config.r0.burst-capacity=60",
				NEW + "redis-rate-limiter.config.r0.requested-tokens=60",
				NEW + "redis-rate-limiter.config.r1.replenish-rate=1",
				NEW + "redis-rate-limiter.config.r1.requested-tokens=1",
				NEW + "routes[1].filters[0].args.redis-rate-limiter.replenishRate=1",
				NEW + "routes[1].filters[0].args.redis-rate-limiter.burstCapacity=60",
				NEW + "routes[1].filters[0].args.redis-rate-limiter.requestedTokens=30"));
		try (ConfigurableApplicationContext context = start(routes.toArray(String[]::new))) {
			assertThat(statuses(client(context), "/r0", 2)).containsExactly(200, 429);
			assertThat(statuses(client(context), "/r1", 3)).containsExactly(200, 200, 429);
		}
	}

	@Test
	void defaultFilterOfTheStandInHasTheLimitsOfTheProperties(CapturedOutput output) {
		List<String> routes = new ArrayList<>(List.of(NEW + "default-filters[0].name=RequestRateLimiter",
				NEW + "default-filters[0].args.rate-limiter=#{@distributedRateLimiter}",
				NEW + "redis-rate-limiter.config.defaultFilters.replenish-rate=1",
				NEW + "redis-rate-limiter.config.defaultFilters.burst-capacity=60",
				NEW + "redis-rate-limiter.config.defaultFilters.requested-tokens=30",
				NEW + "redis-rate-limiter.config.a.replenish-rate=1",
				NEW + "redis-rate-limiter.config.a.burst-capacity=60",
				NEW + "redis-rate-limiter.config.a.requested-tokens=60"));
		for (String route : List.of("a", "b")) {
			String prefix = NEW + "routes[" + (route.charAt(0) - 'a') + "].";
			routes.addAll(List.of(prefix + "id=" + route, prefix + "uri=forward:///",
					prefix + "predicates[0]=Path=/" + route, prefix + "filters[0]=SetPath=/upstream"));
		}
		try (ConfigurableApplicationContext context = start(routes.toArray(String[]::new))) {
			assertThat(statuses(client(context), "/a", 2)).containsExactly(200, 429);
			assertThat(statuses(client(context), "/b", 3)).containsExactly(200, 200, 429);
		}
		routes.add(NEW + "redis-rate-limiter.config.b.replenish-rate=0");
		assertThatException().isThrownBy(() -> start(routes.toArray(String[]::new)));
		assertThat(output).contains("route 'b': redis-rate-limiter.replenishRate cannot be 0.");
	}

	@Test
	void emptyKeyIsAnsweredByTheGatewaysFilter() {
		List<String> route = new ArrayList<>(standIn(0));
		route.add(NEW + "routes[0].filters[0].args.redis-rate-limiter.replenishRate=1");
		try (ConfigurableApplicationContext context = start(route.toArray(String[]::new))) {
			client(context).get().uri("/r0").exchange().expectStatus().isForbidden();
		}
		route.add(NEW + "routes[0].filters[0].args.deny-empty-key=false");
		try (ConfigurableApplicationContext context = start(route.toArray(String[]::new))) {
			client(context).get().uri("/r0").exchange().expectStatus().isOk();
			client(context).get().uri("/r0").exchange().expectStatus().isOk();
		}
	}

	@Test
	void routeThatIsWrittenAtRunTimeAndCannotBeMeantLeavesTheOthersAsTheyAre(CapturedOutput output) {
		List<String> route = new ArrayList<>(standIn(0));
		route.add(NEW + "routes[0].filters[0].args.redis-rate-limiter.replenishRate=1");
		try (ConfigurableApplicationContext context = start(route.toArray(String[]::new))) {
			WebTestClient client = client(context);
			client.get().uri("/r0").header("X-Key", "a").exchange().expectStatus().isOk();
			RouteDefinition wrong = new RouteDefinition("r1=forward:///,Path=/r1");
			wrong.setId("r1");
			FilterDefinition filter = new FilterDefinition();
			filter.setName("RequestRateLimiter");
			// The gateway's own limiter would let this pass, and refuse every request.
			filter.setArgs(Map.of("rate-limiter", "#{@distributedRateLimiter}", "redis-rate-limiter.replenishRate", "1",
					"redis-rate-limiter.requestedTokens", "5"));
			wrong.setFilters(List.of(filter));
			context.getBean(InMemoryRouteDefinitionRepository.class).save(Mono.just(wrong)).block();
			context.publishEvent(new RefreshRoutesEvent(this));
			await().until(() -> output.getAll().contains("redis-rate-limiter.requestedTokens cannot be 5."));
			client.get().uri("/r0").header("X-Key", "b").exchange().expectStatus().isOk();
			client.get().uri("/r0").header("X-Key", "b").exchange().expectStatus().isEqualTo(429);
		}
	}

	@Test
	void startSaysBackendPoliciesAndWhereToLook(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start()) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output.getAll().lines().filter((line) -> line.contains("Rate limits are counted")))
				.singleElement()
				.asString()
				.contains("WARN")
				.contains("in this process only")
				.contains("1 policy (on failure: orders=allow)")
				.contains("/actuator/ratelimit");
		}
	}

	/** A route without a rate. */
	private static List<String> standIn(int index) {
		String route = NEW + "routes[" + index + "].";
		return List.of(route + "id=r" + index, route + "uri=forward:///", route + "predicates[0]=Path=/r" + index,
				route + "filters[0].name=RequestRateLimiter",
				route + "filters[0].args.rate-limiter=#{@distributedRateLimiter}",
				route + "filters[1]=SetPath=/upstream");
	}

	private static List<Integer> statuses(WebTestClient client, String path, int times) {
		return IntStream.range(0, times)
			.mapToObj((i) -> client.get()
				.uri(path)
				.header("X-Key", "a")
				.exchange()
				.returnResult(String.class)
				.getStatus()
				.value())
			.toList();
	}

	private static WebTestClient client(ConfigurableApplicationContext context) {
		String port = context.getEnvironment().getProperty("local.server.port");
		return WebTestClient.bindToServer().baseUrl("http://localhost:" + port).build();
	}

	private static void limited(String... routes) {
		try (ConfigurableApplicationContext context = start(routes)) {
			WebTestClient client = client(context);
			for (int i = 0; i < 3; i++) {
				client.get().uri("/a").exchange().expectStatus().isOk();
			}
			client.get().uri("/a").exchange().expectStatus().isEqualTo(429);
		}
	}

	private static ConfigurableApplicationContext start(String... properties) {
		return new SpringApplicationBuilder(GatewayTestApplication.class).web(WebApplicationType.REACTIVE)
			.properties("server.port=0", "ratelimit.policies.orders.limits.per-ip.by=ip",
					"ratelimit.policies.orders.limits.per-ip.quota=3/h")
			.properties(properties)
			.run();
	}

}
