package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.RedisURI;

import dev.ratelimit.benchmarks.common.ServerJvm;

/**
 * The gateway, in a JVM of its own.
 */
public final class GatewayProcess implements AutoCloseable {

	private final ServerJvm jvm;

	/**
	 * Starts the gateway and returns when it listens.
	 * @param upstream port of the service behind it
	 * @param deadline of a check of ours
	 * @param properties further properties of the application, for example
	 * {@code "--logging.level.root=info"}
	 */
	public GatewayProcess(RedisURI redis, int upstream, Duration deadline, String... properties) throws IOException {
		List<String> all = new ArrayList<>(
				List.of("--spring.config.location=classpath:dev/ratelimit/benchmarks/gateway/gateway.yml",
						"--spring.data.redis.url=" + redis.toURI(), "--upstream.port=" + upstream,
						"--ratelimit.redis.timeout=" + deadline, "--ratelimit.policies-store.snapshot-file=none"));
		all.addAll(List.of(properties));
		this.jvm = ServerJvm.start("gateway", GatewayApplication.class, all);
	}

	public int port() {
		return this.jvm.port();
	}

	long pid() {
		return this.jvm.pid();
	}

	/** Processor time used so far, in seconds. */
	public double cpuSeconds() {
		return this.jvm.cpuSeconds();
	}

	@Override
	public void close() {
		this.jvm.close();
	}

}
