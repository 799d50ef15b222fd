package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.lettuce.core.KeyValue;
import io.lettuce.core.SetArgs;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Loop;
import dev.ratelimit.fleet.FleetRevisions;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.HeartbeatListener;
import dev.ratelimit.fleet.SwitchStore;

/**
 * Heartbeat of an instance: one script call about twice a second, on a background thread,
 * registers this instance, counts those that are alive and reads the switch. While it
 * fails, the listener keeps the last values.
 *
 * <p>
 * The keys share a hash tag, or in a cluster it would be several calls.
 */
public final class RedisPulse implements SwitchStore, FleetRevisions, AutoCloseable {

	private static final LuaScript SCRIPT = LuaScript.named("pulse");

	private static final Logger logger = LoggerFactory.getLogger(RedisPulse.class);

	/** Time without a heartbeat after which an instance is gone: six beats. */
	private static final Duration SILENCE = Duration.ofSeconds(3);

	/**
	 * Beats are 400 to 500 ms apart: a switch is seen within 1 s even when one is lost.
	 */
	private static final long PERIOD_MILLIS = 400;

	private static final long JITTER_MILLIS = 100;

	/** Shorter than the period, so that there is only one beat at a time. */
	private static final Duration BEAT_TIMEOUT = Duration.ofMillis(400);

	private static final Duration WRITE_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration NOT_CONNECTED_PAUSE = Duration.ofMillis(20);

	private static final int FAILURES_UNTIL_GONE = (int) (SILENCE.toMillis() / (PERIOD_MILLIS + JITTER_MILLIS));

	private final RedisSender sender;

	private final byte[] instances;

	private final byte[] switchKey;

	/** Says that a switch is off until the end of a longer one that it replaced. */
	private final byte[] replacedKey;

	private final byte[] instance;

	private final String revisions;

	private final byte[][] keys;

	private final Loop loop = new Loop("ratelimit-pulse", this::turn);

	private final FailureLog failures = new FailureLog(logger,
			"Redis has not taken a heartbeat for " + SILENCE.toSeconds()
					+ " s ({}). This instance keeps the last known number of instances and the last known switch",
			"This instance is counted in the fleet again")
		.after(FAILURES_UNTIL_GONE);

	/** {@code null} while this instance does not beat. */
	private volatile @Nullable HeartbeatListener listener;

	private volatile long unknownAt;

	private volatile LongSupplier revision = () -> 0;

	RedisPulse(RedisSender sender, String prefix, String region, String instance) {
		this.sender = sender;
		this.instances = RedisSender.bytes(prefix + ":{fleet}:instances:" + region);
		this.switchKey = RedisSender.bytes(prefix + ":{fleet}:switch");
		this.replacedKey = RedisSender.bytes(prefix + ":{fleet}:switch:replaced");
		this.instance = RedisSender.bytes(instance);
		this.revisions = prefix + ":{fleet}:revision:";
		this.keys = new byte[][] { this.instances, this.switchKey, revisionKey(this.instance), this.replacedKey };
	}

	/**
	 * Creates a pulse that has not started.
	 * @param connector the limiter's connection
	 * @param prefix first part of the keys
	 * @param region only instances of the same region are counted
	 * @param instance name of this instance
	 */
	public static RedisPulse on(RedisConnector connector, String prefix, String region, String instance) {
		return new RedisPulse(RedisSender.on(connector), prefix, region, instance);
	}

	/**
	 * Starts to beat, as soon as there is a connection.
	 * @param listener called on the connection's thread: it must not block
	 */
	public synchronized void start(HeartbeatListener listener) {
		if (this.listener == null) {
			this.unknownAt = System.nanoTime();
			this.listener = listener;
			this.loop.start();
		}
	}

	/**
	 * Says what the heartbeats report as the revision of the policy store that this
	 * instance has read.
	 */
	public void revision(LongSupplier revision) {
		this.revision = revision;
	}

	@Override
	public CompletionStage<Map<String, Long>> revisions() {
		return this.sender.send(WRITE_TIMEOUT, (commands) -> commands.zrevrange(this.instances, 0, -1))
			.thenCompose((instances) -> instances.isEmpty() ? CompletableFuture.completedStage(List.of())
					: this.sender.send(WRITE_TIMEOUT,
							(commands) -> commands
								.mget(instances.stream().map(this::revisionKey).toArray(byte[][]::new))))
			.thenApply((values) -> {
				Map<String, Long> revisions = new HashMap<>();
				values.stream()
					.filter(KeyValue::hasValue)
					.forEach((value) -> revisions.put(text(value.getKey()).substring(this.revisions.length()),
							Long.parseLong(text(value.getValue()))));
				return revisions;
			});
	}

	private byte[] revisionKey(byte[] instance) {
		return RedisSender.bytes(this.revisions + text(instance));
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	/**
	 * Stops and leaves the fleet, so that the others notice at once.
	 */
	@Override
	public synchronized void close() {
		if (this.listener == null) {
			return;
		}
		// Waits for a beat that is under way: it would register this instance again.
		this.loop.end(BEAT_TIMEOUT.multipliedBy(2));
		this.listener = null;
		try {
			Futures.await(this.sender.send(BEAT_TIMEOUT, (commands) -> commands.zrem(this.instances, this.instance)),
					BEAT_TIMEOUT);
		}
		catch (CompletionException ex) {
			logger.debug("This instance could not leave the fleet, which notices in {} s", SILENCE.toSeconds(), ex);
		}
	}

	/**
	 * A switch that ends before the one it replaces leaves a record until that one's end:
	 * an instance that was away may still hold it and must not take its end for a loss.
	 */
	@Override
	public CompletionStage<Void> put(ForcedMode forced) {
		long left = Math.max(1, forced.left().toMillis());
		return left(this.switchKey).thenCombine(left(this.replacedKey), Math::max)
			.thenCompose(
					(longest) -> (longest > left) ? set(this.replacedKey, PulseCodec.off(), SetArgs.Builder.px(longest))
							: CompletableFuture.completedStage(true))
			.thenCompose((done) -> set(this.switchKey, PulseCodec.encode(forced), SetArgs.Builder.px(left)))
			.thenApply((done) -> null);
	}

	/** With the time to live of the switch; without a switch, for the time given. */
	@Override
	public CompletionStage<Void> clear(Duration left) {
		return set(this.switchKey, PulseCodec.off(), SetArgs.Builder.keepttl().xx())
			.thenCompose((done) -> done ? CompletableFuture.completedStage(true)
					: set(this.switchKey, PulseCodec.off(), SetArgs.Builder.px(Math.max(1, left.toMillis()))))
			.thenApply((done) -> null);
	}

	@Override
	public CompletionStage<Boolean> restore(ForcedMode forced) {
		return set(this.switchKey, PulseCodec.encode(forced),
				SetArgs.Builder.px(Math.max(1, forced.left().toMillis())).nx());
	}

	/** Milliseconds until a key expires; negative if there is none. */
	private CompletionStage<Long> left(byte[] key) {
		return this.sender.send(WRITE_TIMEOUT, (commands) -> commands.pttl(key));
	}

	private CompletionStage<Boolean> set(byte[] key, byte[] value, SetArgs arguments) {
		return this.sender.send(WRITE_TIMEOUT, (commands) -> commands.set(key, value, arguments))
			.thenApply((reply) -> reply != null);
	}

	private Duration turn() throws InterruptedException {
		if (!this.sender.isConnected()) {
			return NOT_CONNECTED_PAUSE;
		}
		long start = System.nanoTime();
		beat(start);
		long period = PERIOD_MILLIS + ThreadLocalRandom.current().nextLong(JITTER_MILLIS + 1);
		long left = TimeUnit.MILLISECONDS.toNanos(period) - (System.nanoTime() - start);
		return Duration.ofNanos(Math.max(0, left));
	}

	private void beat(long start) throws InterruptedException {
		HeartbeatListener listener = this.listener;
		if (listener == null) {
			return;
		}
		try {
			// The listener is called on the connection's thread, where replies keep their
			// order: it must not see a beat from before a switch was set after the
			// switch.
			this.sender
				.send(BEAT_TIMEOUT,
						(commands) -> SCRIPT.call(commands, this.keys, arguments())
							.thenAccept((reply) -> report(listener, reply, start)))
				.toCompletableFuture()
				.get();
			this.failures.worked();
		}
		catch (ExecutionException | RuntimeException ex) {
			this.failures.failed(Futures.cause(ex).toString());
		}
	}

	private byte[][] arguments() {
		return new byte[][] { this.instance, RedisSender.bytes(SILENCE.toMillis()),
				RedisSender.bytes(ForcedMode.USUAL.toMillis()), RedisSender.bytes(this.revision.getAsLong()) };
	}

	private void report(HeartbeatListener listener, List<Object> reply, long start) {
		long now = System.nanoTime();
		PulseCodec.Reply beat = PulseCodec.decode(reply, now - start);
		if (!beat.known()) {
			this.unknownAt = now;
		}
		listener.heartbeat(beat.instances(), now - this.unknownAt >= SILENCE.toNanos(), beat.recorded(), beat.forced());
	}

}
