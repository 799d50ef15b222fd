package dev.ratelimit.gateway;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotMark;
import dev.ratelimit.split.MarkedSplits;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A counter of the stand-in for the gateway's own limiter that is marked to be split.
 */
@ExtendWith(RedisServers.class)
class StandInSplitIntegrationTests {

	private static final int PARTS = 4;

	private static final String ROUTE = "spring.cloud.gateway.server.webflux.routes[0].";

	@Test
	void markedCounterIsKeptInParts(RedisServer redis) {
		try (ConfigurableApplicationContext context = start(redis)) {
			Limit limit = DistributedRateLimiter.policy(Quota.parse("4/s burst 40")).limits().get(0);
			Counter counter = new Counter(new CounterSpec(Algorithm.GCRA, limit), context.getBean(CounterKeys.class),
					DistributedRateLimiter.POLICY, List.of("a", "ann"));
			HotMark mark = new HotMark(CounterName.of(counter), Duration.ofMinutes(1), "automatic", "", PARTS);
			assertThat(context.getBean(HotExchange.class).mark(mark).toCompletableFuture().join()).isTrue();
			await().until(() -> context.getBean(MarkedSplits.class).parts(counter) == PARTS);
			// More than one part can give, which gets a permit back in a second.
			for (int i = 0; i < 40; i++) {
				call(context);
			}
			assertThat(IntStream.range(1, PARTS).mapToObj((part) -> counter.part(part, PARTS).key()))
				.anyMatch((key) -> redis.cli("EXISTS", key).equals("1"));
		}
	}

	private static WebTestClient.ResponseSpec call(ConfigurableApplicationContext context) {
		String port = context.getEnvironment().getProperty("local.server.port");
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + port)
			.build()
			.get()
			.uri("/a")
			.header("X-Key", "ann")
			.exchange();
	}

	private static ConfigurableApplicationContext start(RedisServer redis) {
		return new SpringApplicationBuilder(GatewayTestApplication.class).web(WebApplicationType.REACTIVE)
			.properties("server.port=0", "ratelimit.redis.timeout=2s", "spring.data.redis.host=" + redis.host(),
					"spring.data.redis.port=" + redis.port(), ROUTE + "id=a", ROUTE + "predicates[0]=Path=/a",
					ROUTE + "uri=forward:///", ROUTE + "filters[0].name=RequestRateLimiter",
					ROUTE + "filters[0].args.rate-limiter=#{@distributedRateLimiter}",
					ROUTE + "filters[0].args.redis-rate-limiter.replenishRate=4",
					ROUTE + "filters[0].args.redis-rate-limiter.burstCapacity=40",
					ROUTE + "filters[1]=SetPath=/upstream")
			.run();
	}

}
