package dev.ratelimit.benchmarks;

import java.time.Duration;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import org.awaitility.Awaitility;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.load.BoundedLoad;

/**
 * Weighs counters in one Redis: fills it, reads how much memory it uses, empties it.
 */
final class RedisMemory {

	private final MeasuredRedis redis;

	RedisMemory(MeasuredRedis redis) {
		this.redis = redis;
	}

	double bytesPerCounter(MemoryCase each, int counters) {
		// What the script and a first connection leave behind is there before.
		write(each, 1);
		this.redis.flush();
		long before = used();
		write(each, counters);
		long after = used();
		long keys = this.redis.keys();
		this.redis.flush();
		if (keys != (long) counters * each.keys()) {
			throw new IllegalStateException(
					each.name() + ": " + keys + " keys for " + counters + " counters, some have expired already");
		}
		return Math.round(10.0 * (after - before) / counters) / 10.0;
	}

	private void write(MemoryCase each, int counters) {
		try (StatefulRedisConnection<byte[], byte[]> connection = this.redis.client()
			.connect(ByteArrayCodec.INSTANCE)) {
			new BoundedLoad(each.name(), counters, each.rounds()).run(each.writer().apply(connection)::write);
		}
	}

	/**
	 * The memory in use once the writer's buffers are gone with its connection and no
	 * hash table is being moved to a larger one.
	 */
	private long used() {
		Awaitility.await().until(() -> this.redis.info("connected_clients").equals("1"));
		long[] last = { 0 };
		Awaitility.await().pollInterval(Duration.ofMillis(500)).atMost(Duration.ofMinutes(1)).until(() -> {
			long before = last[0];
			last[0] = Long.parseLong(this.redis.info("used_memory"));
			return Math.abs(last[0] - before) < 10_000;
		});
		return last[0];
	}

}
