package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.CounterName;
import dev.ratelimit.counter.HotKey;
import dev.ratelimit.counter.HotMark;
import dev.ratelimit.counter.HotStore;
import dev.ratelimit.counter.RefusedKey;
import dev.ratelimit.counter.SealedHashes;

/**
 * The fleet's rates, refusals and marks in Redis, by one script call a second. Rates and
 * refusals told in a second, by Redis's clock, are added up in a sorted set each, and
 * read when that second is over.
 *
 * <p>
 * Each instance calls at its own time in a second and away from its edges, so that it
 * neither misses a second nor comes twice. All keys share a hash tag, or in a cluster it
 * would be several calls.
 */
public final class RedisHotKeys implements HotStore {

	private static final long WRITE_TIMEOUT_MILLIS = 1_000;

	private static final long SECOND_MICROS = 1_000_000;

	private final Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands;

	private final HotTexts texts;

	private final byte[][] keys;

	private final byte[] marks;

	private final long phaseMicros = ThreadLocalRandom.current().nextLong(SECOND_MICROS / 4, 3 * SECOND_MICROS / 4);

	private volatile long told;

	private RedisHotKeys(Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands, String prefix,
			String region, SealedHashes hashes) {
		this.commands = commands;
		this.texts = new HotTexts(hashes);
		String rates = prefix + ":{fleet}:hot:" + region + ":";
		this.marks = bytes(prefix + ":{fleet}:hot:marks");
		String refusals = prefix + ":{fleet}:refused:" + region + ":";
		this.keys = new byte[][] { bytes(rates + 0), bytes(rates + 1), bytes(rates + 2), bytes(refusals + 0),
				bytes(refusals + 1), bytes(refusals + 2), this.marks };
	}

	/**
	 * Those of the fleet.
	 * @param connector the limiter's connection
	 * @param prefix first part of the keys
	 * @param region only rates of the same region are added up
	 * @param hashes how hash codes are written
	 */
	public static RedisHotKeys on(RedisConnector connector, String prefix, String region, SealedHashes hashes) {
		return new RedisHotKeys(connector::commands, prefix, region, hashes);
	}

	@Override
	public CompletionStage<View> exchange(List<HotKey> seen, List<RefusedKey> refused, int top) {
		List<byte[]> arguments = new ArrayList<>(3 + 2 * seen.size() + 2 * refused.size());
		arguments.add(bytes(Long.toString(this.told)));
		arguments.add(bytes(Integer.toString(top)));
		arguments.add(bytes(Integer.toString(seen.size())));
		seen.forEach((key) -> add(arguments, key.perSecond(), key.name()));
		refused.forEach((key) -> add(arguments, key.refusals(), key.name()));
		return send((commands) -> LuaScript.HOT.call(commands, this.keys, arguments.toArray(byte[][]::new)))
			.thenApply(this::decode);
	}

	private void add(List<byte[]> arguments, long number, CounterName name) {
		arguments.add(bytes(Long.toString(number)));
		arguments.add(bytes(this.texts.encode(name)));
	}

	@Override
	public CompletionStage<Boolean> put(HotMark mark) {
		return write(mark, true);
	}

	@Override
	public CompletionStage<Boolean> claim(HotMark mark) {
		return write(mark, false);
	}

	private CompletionStage<Boolean> write(HotMark mark, boolean replace) {
		byte[][] arguments = { bytes(mark.name().key()), bytes(Long.toString(Math.max(1, mark.left().toMillis()))),
				bytes(this.texts.encode(mark)), bytes(Integer.toString(MAX_MARKS)), bytes(replace ? "1" : "0") };
		return written(send((commands) -> LuaScript.HOT_MARK.call(commands, new byte[][] { this.marks }, arguments)))
			.thenApply((reply) -> (Long) reply.get(0) == 1);
	}

	@Override
	public CompletionStage<Void> remove(String key) {
		return written(send((commands) -> commands.hdel(this.marks, bytes(key)))).thenApply((count) -> null);
	}

	private View decode(List<Object> reply) {
		this.told = (Long) reply.get(0);
		long micros = SECOND_MICROS - (Long) reply.get(1) + this.phaseMicros;
		return new View(this.texts.decode((List<?>) reply.get(2), HotKey::new),
				this.texts.decode((List<?>) reply.get(3), RefusedKey::new),
				this.texts.decodeMarks((List<?>) reply.get(4)), Duration.ofNanos(1_000 * micros));
	}

	private <T> CompletionStage<T> send(
			Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<T>> command) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.get();
		if (commands == null) {
			return CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}
		try {
			return command.apply(commands);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private static <T> CompletionStage<T> written(CompletionStage<T> sent) {
		return sent.toCompletableFuture().copy().orTimeout(WRITE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
