package dev.ratelimit.app;

import java.util.stream.Stream;

import org.springframework.boot.SpringApplication;

import dev.ratelimit.testing.RedisServer;

/**
 * The gateway with a real Redis of its own beside it:
 * {@code mvn -pl ratelimit-gateway-app -am spring-boot:test-run}.
 */
public final class GatewayWithRedis {

	private GatewayWithRedis() {
	}

	// Redis is not closed here: it ends after the JVM, so that a graceful shutdown still
	// finds it.
	@SuppressWarnings("resource")
	public static void main(String[] args) {
		RedisServer redis = RedisServer.start();
		Stream<String> own = Stream.of("--spring.data.redis.host=" + redis.host(),
				"--spring.data.redis.port=" + redis.port(), "--logging.config=classpath:logback-gateway.xml",
				// This Redis is gone at the next start.
				"--ratelimit.policies-store.snapshot-file=none");
		SpringApplication.from(RateLimitGatewayApplication::main)
			.run(Stream.concat(own, Stream.of(args)).toArray(String[]::new));
	}

}
