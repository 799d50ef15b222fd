package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

import dev.ratelimit.caller.SealedHashes;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotKey;
import dev.ratelimit.hot.HotMark;
import dev.ratelimit.hot.HotStore;
import dev.ratelimit.hot.RefusedKey;

/**
 * The fleet's rates, refusals and marks in Redis, by one script call a second. The rates
 * and refusals of a second, by Redis's clock, are added up in a sorted set each, and read
 * when that second is over.
 *
 * <p>
 * Each instance calls at its own time in a second and away from its edges, so that it
 * neither misses a second nor counts in one twice. All keys share a hash tag, so that one
 * call is enough in a cluster.
 */
public final class RedisHotKeys implements HotStore {

	private static final LuaScript MARK_SCRIPT = LuaScript.named("hotmark");

	private static final LuaScript SCRIPT = LuaScript.named("hot");

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final long SECOND_MICROS = 1_000_000;

	private final RedisSender sender;

	private final HotKeyCodec texts;

	private final byte[][] keys;

	private final byte[] marks;

	private final long phaseMicros = ThreadLocalRandom.current().nextLong(SECOND_MICROS / 4, 3 * SECOND_MICROS / 4);

	/** The last second, by Redis's clock, to which this instance has added. */
	private volatile long lastSecond;

	/**
	 * @param connector the limiter's connection
	 * @param prefix first part of the keys
	 * @param region only rates of the same region are added up
	 * @param hashes how hash codes are written
	 */
	public RedisHotKeys(RedisConnector connector, String prefix, String region, SealedHashes hashes) {
		this.sender = RedisSender.on(connector);
		this.texts = new HotKeyCodec(hashes);
		String rates = prefix + ":{fleet}:hot:" + region + ":";
		this.marks = RedisSender.bytes(prefix + ":{fleet}:hot:marks");
		String refusals = prefix + ":{fleet}:refused:" + region + ":";
		this.keys = new byte[][] { RedisSender.bytes(rates + 0), RedisSender.bytes(rates + 1),
				RedisSender.bytes(rates + 2), RedisSender.bytes(refusals + 0), RedisSender.bytes(refusals + 1),
				RedisSender.bytes(refusals + 2), this.marks };
	}

	@Override
	public CompletionStage<View> exchange(List<HotKey> seen, List<RefusedKey> refused, int top) {
		List<byte[]> arguments = new ArrayList<>(3 + 2 * seen.size() + 2 * refused.size());
		arguments.add(RedisSender.bytes(this.lastSecond));
		arguments.add(RedisSender.bytes(top));
		arguments.add(RedisSender.bytes(seen.size()));
		seen.forEach((key) -> add(arguments, key.perSecond(), key.name()));
		refused.forEach((key) -> add(arguments, key.refusals(), key.name()));
		return this.sender.call(SCRIPT, this.keys, arguments.toArray(byte[][]::new), TIMEOUT).thenApply(this::decode);
	}

	private void add(List<byte[]> arguments, long number, CounterName name) {
		arguments.add(RedisSender.bytes(number));
		arguments.add(RedisSender.bytes(this.texts.encode(name)));
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
		byte[][] arguments = { RedisSender.bytes(mark.name().key()),
				RedisSender.bytes((Math.max(1, mark.left().toMillis()))), RedisSender.bytes(this.texts.encode(mark)),
				RedisSender.bytes(MAX_MARKS), RedisSender.bytes(replace ? "1" : "0") };
		return this.sender.call(MARK_SCRIPT, new byte[][] { this.marks }, arguments, TIMEOUT)
			.thenApply((reply) -> (Long) reply.get(0) == 1);
	}

	@Override
	public CompletionStage<Void> remove(String key) {
		return this.sender.send(TIMEOUT, (commands) -> commands.hdel(this.marks, RedisSender.bytes(key)))
			.thenApply((count) -> null);
	}

	private View decode(List<Object> reply) {
		this.lastSecond = (Long) reply.get(0);
		long micros = SECOND_MICROS - (Long) reply.get(1) + this.phaseMicros;
		return new View(this.texts.decode((List<?>) reply.get(2), HotKey::new),
				this.texts.decode((List<?>) reply.get(3), RefusedKey::new),
				this.texts.decodeMarks((List<?>) reply.get(4)), Duration.ofNanos(1_000 * micros));
	}

}
