package dev.ratelimit.benchmarks;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.redis.RedisCounters;

/**
 * One kind of counter to be weighed. Windows are long, so that no state stops to matter
 * and expires before it was weighed.
 *
 * @param name what is shown
 * @param rounds how often each counter is used
 * @param keys how many keys a counter has
 * @param bound bytes that it may cost, {@code null} if nothing was promised
 * @param writer uses one counter, over a connection
 */
record MemoryCase(String name, int rounds, int keys, @Nullable Integer bound,
		Function<StatefulRedisConnection<byte[], byte[]>, Writer> writer) {

	private static final CounterKeys KEYS = new CounterKeys("rl");

	private static final int LOG_ENTRIES = 10;

	static List<MemoryCase> all() {
		return List.of(ours("GCRA, 1 quota", 136, Algorithm.GCRA, "100/d"),
				ours("GCRA, 3 quotas", 184, Algorithm.GCRA, "100/d", "1000/7d", "3000/30d"),
				ours("GCRA, 1 quota that does not divide, 7/d", null, Algorithm.GCRA, "7/d"),
				ours("token bucket, 1 quota", null, Algorithm.TOKEN_BUCKET, "100/d"),
				ours("sliding-window counter, 1 quota", null, Algorithm.SLIDING_WINDOW_COUNTER, "100/31d"),
				ours("fixed window, 1 quota", null, Algorithm.FIXED_WINDOW, "100/31d"),
				new MemoryCase("sliding-window log, 10 entries", LOG_ENTRIES, 1, null,
						(connection) -> counting(connection, Algorithm.SLIDING_WINDOW_LOG, "100/31d")),
				new MemoryCase("bare integer with TTL, key as long", 1, 1, null, MemoryCase::bareInteger),
				new MemoryCase("Spring Cloud Gateway, two keys for a UUID", 1, 2, null, MemoryCase::gatewayKeys));
	}

	private static MemoryCase ours(String name, @Nullable Integer bound, Algorithm algorithm, String... quotas) {
		return new MemoryCase(name, 1, 1, bound, (connection) -> counting(connection, algorithm, quotas));
	}

	private static Writer counting(StatefulRedisConnection<byte[], byte[]> connection, Algorithm algorithm,
			String... quotas) {
		RedisCounters counters = RedisCounters.on(connection);
		CounterSpec spec = new CounterSpec(algorithm, limit(quotas));
		return (number) -> counters.acquire(List.of(new Counter(spec, key(spec, number))), Permits.exactly(1));
	}

	private static Writer bareInteger(StatefulRedisConnection<byte[], byte[]> connection) {
		RedisAsyncCommands<byte[], byte[]> commands = connection.async();
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, limit("100/d"));
		SetArgs ttl = SetArgs.Builder.ex(86_400);
		// Above 10,000, the integers that Redis shares.
		return (number) -> commands.set(bytes(key(spec, number)), bytes(String.valueOf(10_000 + number)), ttl);
	}

	/**
	 * What the script of Spring Cloud Gateway's own limiter stores, with a TTL long
	 * enough to be weighed.
	 */
	private static Writer gatewayKeys(StatefulRedisConnection<byte[], byte[]> connection) {
		RedisAsyncCommands<byte[], byte[]> commands = connection.async();
		byte[] seconds = bytes(String.valueOf(System.currentTimeMillis() / 1_000));
		return (number) -> {
			String id = "request_rate_limiter.{" + new UUID(number, number) + "}.";
			commands.setex(bytes(id + "tokens"), 86_400, bytes("99"));
			return commands.setex(bytes(id + "timestamp"), 86_400, seconds);
		};
	}

	private static Limit limit(String... quotas) {
		return Limit.of("per-user", List.of(Dimension.USER), quotas);
	}

	private static String key(CounterSpec spec, int number) {
		return KEYS.key("memory", spec.algorithm(), spec.limit(), List.of(user(number)));
	}

	private static String user(int number) {
		return "user-" + (1_000_000_000 + number);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.ISO_8859_1);
	}

	/** Uses the counter of a number. */
	interface Writer {

		CompletionStage<?> write(int number);

	}

}
