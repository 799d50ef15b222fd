package dev.ratelimit.benchmarks.common;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.lettuce.core.FlushMode;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.testing.RedisServer;

/**
 * The Redis that a command measures on: started for it, or found. Debian's server comes
 * first because the bundled one uses another allocator and takes about a quarter more
 * processor time per check.
 */
public final class MeasuredRedis implements AutoCloseable {

	static final String AUTO = "auto";

	private static final String BUNDLED = "bundled";

	private static final String PROGRAM = "redis-server";

	/** FLUSHALL of a million counters takes longer than a second. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisURI uri;

	private final String origin;

	private final @Nullable AutoCloseable server;

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	private final long pid;

	private MeasuredRedis(RedisURI uri, String origin, @Nullable AutoCloseable server) {
		uri.setTimeout(PATIENCE);
		this.uri = uri;
		this.origin = origin;
		this.server = server;
		this.client = RedisClient.create(uri);
		this.connection = this.client.connect();
		this.pid = Long.parseLong(info("process_id"));
	}

	static MeasuredRedis open(String choice) {
		MeasuredRedis redis = switch (choice) {
			case AUTO -> {
				Path program = ChildProgram.find(PROGRAM);
				yield (program != null) ? started(program) : bundled();
			}
			case BUNDLED -> bundled();
			default -> at(RedisURI.create(choice));
		};
		if (redis.connection.sync().dbsize() > 0) {
			String where = redis.toString();
			redis.close();
			throw new IllegalStateException(where + " holds keys, use an empty one");
		}
		return redis;
	}

	/** A server that somebody else has started. */
	public static MeasuredRedis at(RedisURI uri) {
		return new MeasuredRedis(uri, "at " + uri.getHost() + ":" + uri.getPort(), null);
	}

	private static MeasuredRedis bundled() {
		RedisServer server = RedisServer.start();
		return new MeasuredRedis(server.uri(), BUNDLED, server);
	}

	private static MeasuredRedis started(Path program) {
		ChildProgram server = ChildProgram.start("redis",
				(directory, port) -> List.of(program.toString(), "--port", String.valueOf(port), "--bind", "127.0.0.1",
						"--dir", directory.toString(), "--save", "", "--appendonly", "no"));
		RedisURI uri = RedisURI.create("127.0.0.1", server.port());
		try {
			return Awaitility.await()
				.atMost(PATIENCE)
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(20))
				.ignoreExceptionsMatching((ex) -> ex instanceof RedisConnectionException && server.alive())
				.until(() -> new MeasuredRedis(uri, program.toString(), server), (redis) -> true);
		}
		catch (RuntimeException ex) {
			server.close();
			throw ex;
		}
	}

	public RedisURI uri() {
		return this.uri;
	}

	public RedisClient client() {
		return this.client;
	}

	/** Number of keys. */
	public long keys() {
		return this.connection.sync().dbsize();
	}

	/**
	 * Empties it before this returns, so that nothing is left to do for a measurement.
	 */
	public void flush() {
		this.connection.sync().flushall(FlushMode.SYNC);
	}

	/** Processor time that the server has used, in seconds. */
	public double cpuSeconds() {
		return Double.parseDouble(info("used_cpu_user")) + Double.parseDouble(info("used_cpu_sys"));
	}

	/** The process of the server, which must run on this machine to be signalled. */
	public long pid() {
		return this.pid;
	}

	public String version() {
		return info("redis_version");
	}

	public String allocator() {
		return info("mem_allocator");
	}

	/** How often a script was called since the server started. */
	public long scriptCalls() {
		return this.connection.sync()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_evalsha:"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("^[^=]*=(\\d+),.*", "$1")))
			.sum();
	}

	/** A field of INFO. */
	public String info(String field) {
		return this.connection.sync()
			.info()
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
		try {
			if (this.server != null) {
				this.server.close();
			}
		}
		catch (Exception ex) {
			throw new IllegalStateException(this.origin + " did not stop", ex);
		}
	}

	/** Version, allocator and origin, for the output. */
	@Override
	public String toString() {
		return "Redis " + version() + " with " + allocator() + " (" + this.origin + ")";
	}

}
