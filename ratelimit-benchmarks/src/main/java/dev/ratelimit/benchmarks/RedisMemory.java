package dev.ratelimit.benchmarks;

import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import org.awaitility.Awaitility;

/**
 * Weighs counters in one Redis: fills it, reads how much memory it uses, empties it.
 */
final class RedisMemory implements AutoCloseable {

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> observer;

	RedisMemory(RedisURI uri) {
		uri.setTimeout(Duration.ofSeconds(30));
		this.client = RedisClient.create(uri);
		this.observer = this.client.connect();
		if (this.observer.sync().dbsize() > 0) {
			close();
			throw new IllegalStateException(
					"the Redis at " + uri.getHost() + ":" + uri.getPort() + " holds keys, use an empty one");
		}
	}

	String version() {
		return info("redis_version");
	}

	String allocator() {
		return info("mem_allocator");
	}

	double bytesPerCounter(MemoryCase each, int counters) {
		// What the script and a first connection leave behind is there before.
		write(each, 1);
		this.observer.sync().flushall();
		long before = used();
		write(each, counters);
		long after = used();
		long keys = this.observer.sync().dbsize();
		this.observer.sync().flushall();
		if (keys != (long) counters * each.keys()) {
			throw new IllegalStateException(
					each.name() + ": " + keys + " keys for " + counters + " counters, some have expired already");
		}
		return Math.round(10.0 * (after - before) / counters) / 10.0;
	}

	private void write(MemoryCase each, int counters) {
		try (StatefulRedisConnection<byte[], byte[]> connection = this.client.connect(ByteArrayCodec.INSTANCE)) {
			new Load(each.name(), counters, each.rounds()).run(each.writer().apply(connection)::write);
		}
	}

	/**
	 * The memory in use once the writer's buffers are gone with its connection and no
	 * hash table is being moved to a larger one.
	 */
	private long used() {
		Awaitility.await().until(() -> info("connected_clients").equals("1"));
		long[] last = { 0 };
		Awaitility.await().pollInterval(Duration.ofMillis(500)).atMost(Duration.ofMinutes(1)).until(() -> {
			long before = last[0];
			last[0] = Long.parseLong(info("used_memory"));
			return Math.abs(last[0] - before) < 10_000;
		});
		return last[0];
	}

	private String info(String field) {
		return this.observer.sync()
			.info()
			.lines()
			.filter((line) -> line.startsWith(field + ":"))
			.map((line) -> line.substring(field.length() + 1).strip())
			.findFirst()
			.orElseThrow();
	}

	@Override
	public void close() {
		this.observer.close();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

}
