package dev.ratelimit.benchmarks.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

import io.lettuce.core.RedisURI;

import dev.ratelimit.benchmarks.common.ChildJvm;

/**
 * The gateway, in a JVM of its own.
 */
final class GatewayProcess implements AutoCloseable {

	/** The last two let the profiler name the frame in which a sample was taken. */
	private static final List<String> OPTIONS = List.of("-Xms512m", "-Xmx512m", "-XX:+UnlockDiagnosticVMOptions",
			"-XX:+DebugNonSafepoints");

	private final Process process;

	private final int port;

	/**
	 * Starts the gateway and returns when it listens.
	 * @param upstream port of the service behind it
	 * @param deadline of a check of ours
	 */
	GatewayProcess(RedisURI redis, int upstream, Duration deadline) throws IOException {
		this.process = ChildJvm.start(OPTIONS, GatewayApplication.class.getName(),
				List.of("--spring.config.location=classpath:dev/ratelimit/benchmarks/gateway/gateway.yml",
						"--spring.data.redis.url=" + redis.toURI(), "--upstream.port=" + upstream,
						"--ratelimit.redis.timeout=" + deadline, "--ratelimit.policies-store.snapshot-file=none"));
		BufferedReader out = this.process.inputReader();
		String line = out.readLine();
		while (line != null && !line.matches("\\d+")) {
			System.err.println(line);
			line = out.readLine();
		}
		if (line == null) {
			this.process.destroyForcibly();
			throw new IllegalStateException("the gateway did not start, see above");
		}
		this.port = Integer.parseInt(line);
	}

	int port() {
		return this.port;
	}

	long pid() {
		return this.process.pid();
	}

	/** Processor time used so far, in seconds. */
	double cpuSeconds() {
		return this.process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9;
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

}
