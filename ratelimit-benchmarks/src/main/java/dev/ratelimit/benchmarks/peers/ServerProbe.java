package dev.ratelimit.benchmarks.peers;

import java.time.Duration;

import io.lettuce.core.FlushMode;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;

/**
 * Looks at a Redis and empties it, beside the contenders.
 */
final class ServerProbe implements AutoCloseable {

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	ServerProbe(RedisURI uri) {
		this.client = RedisClient.create(uri);
		this.connection = this.client.connect();
	}

	String version() {
		return info("server", "redis_version");
	}

	boolean empty() {
		return this.connection.sync().dbsize() == 0;
	}

	/**
	 * Empties it before it returns, so that nothing is left to do while others measure.
	 */
	void flush() {
		this.connection.sync().flushall(FlushMode.SYNC);
	}

	/** Processor time that the server has used, in seconds. */
	double cpuSeconds() {
		return Double.parseDouble(info("cpu", "used_cpu_user")) + Double.parseDouble(info("cpu", "used_cpu_sys"));
	}

	private String info(String section, String field) {
		return this.connection.sync()
			.info(section)
			.lines()
			.filter((line) -> line.startsWith(field + ":"))
			.map((line) -> line.substring(field.length() + 1).strip())
			.findFirst()
			.orElseThrow();
	}

	@Override
	public void close() {
		this.connection.close();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
