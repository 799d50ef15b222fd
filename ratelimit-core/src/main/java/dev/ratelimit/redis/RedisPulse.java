package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.ForcedMode;
import dev.ratelimit.SwitchStore;

/**
 * What the instances of a fleet know of each other, by one script call about twice a
 * second on a thread of its own: it says that this instance is alive, counts those that
 * are and reads the switch. It runs beside the checks, and while it fails whoever listens
 * keeps what was heard last.
 *
 * <p>
 * Both keys share a hash tag, or in a cluster it would be two calls.
 */
public final class RedisPulse implements SwitchStore, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisPulse.class);

	/** An instance that is silent for so long is gone: six beats. */
	private static final Duration SILENCE = Duration.ofSeconds(3);

	/**
	 * Beats are 400 to 500 ms apart: a switch is seen within 1 s even when one is lost.
	 */
	private static final long PERIOD_MILLIS = 400;

	private static final long JITTER_MILLIS = 100;

	/** Over before the next beat is due, so that there is only ever one. */
	private static final long BEAT_TIMEOUT_MILLIS = 400;

	private static final long WRITE_TIMEOUT_MILLIS = 1_000;

	private static final long NOT_CONNECTED_MILLIS = 20;

	private static final int FAILURES_UNTIL_GONE = (int) (SILENCE.toMillis() / (PERIOD_MILLIS + JITTER_MILLIS));

	private final Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands;

	private final byte[] instances;

	private final byte[] redSwitch;

	private final byte[] instance;

	private @Nullable Beating beating;

	RedisPulse(Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands, String prefix, String region,
			String instance) {
		this.commands = commands;
		this.instances = bytes(prefix + ":{fleet}:instances:" + region);
		this.redSwitch = bytes(prefix + ":{fleet}:switch");
		this.instance = bytes(instance);
	}

	/**
	 * A pulse that does not beat yet.
	 * @param connector the limiter's connection
	 * @param prefix first part of the keys
	 * @param region only instances of the same region are counted
	 * @param instance what this instance goes by
	 */
	public static RedisPulse on(RedisConnector connector, String prefix, String region, String instance) {
		return new RedisPulse(connector::commands, prefix, region, instance);
	}

	/**
	 * Beats from now on, for the first time as soon as there is a connection.
	 * @param listener hears of every beat, on the connection's thread: it must not block
	 */
	public synchronized void start(Listener listener) {
		if (this.beating == null) {
			this.beating = new Beating(listener);
			this.beating.start();
		}
	}

	/**
	 * Stops, and tells the others, so that they need not wait for it.
	 */
	@Override
	public synchronized void close() {
		if (this.beating == null) {
			return;
		}
		this.beating.end();
		this.beating = null;
		try {
			send((commands) -> commands.zrem(this.instances, this.instance)).toCompletableFuture()
				.get(BEAT_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("Could not say goodbye to the fleet, which sees it in {} s", SILENCE.toSeconds(), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public CompletionStage<Void> put(ForcedMode forced) {
		return written((commands) -> commands.set(this.redSwitch, PulseReply.encode(forced),
				SetArgs.Builder.px(Math.max(1, forced.left().toMillis()))));
	}

	@Override
	public CompletionStage<Void> clear() {
		return written((commands) -> commands.unlink(this.redSwitch));
	}

	private CompletionStage<Void> written(
			Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<?>> command) {
		return send(command).<Void>thenApply((reply) -> null)
			.toCompletableFuture()
			.orTimeout(WRITE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
	}

	private CompletionStage<?> send(Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<?>> command) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.get();
		if (commands == null) {
			return CompletableFuture.failedStage(new RedisConnectionException("not connected to Redis"));
		}
		try {
			return command.apply(commands);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Hears of every beat.
	 */
	public interface Listener {

		/**
		 * Redis has answered.
		 * @param instances how many are alive, this one included
		 * @param complete whether that is all of them. It is not for a while after this
		 * instance was not known itself: Redis may have lost all of them, or its clock
		 * was set
		 * @param forced what the switch is set to, {@code null} if it is off
		 */
		void beat(int instances, boolean complete, @Nullable ForcedMode forced);

	}

	/**
	 * From one start to the next close.
	 */
	private final class Beating implements Runnable {

		private final Listener listener;

		private final Thread thread = new Thread(this, "ratelimit-pulse");

		private final CountDownLatch ending = new CountDownLatch(1);

		private final byte[][] keys = { RedisPulse.this.instances, RedisPulse.this.redSwitch };

		private final byte[][] arguments = { RedisPulse.this.instance, bytes(String.valueOf(SILENCE.toMillis())),
				bytes(String.valueOf(ForcedMode.USUAL.toMillis())) };

		private volatile long unknownAt = System.nanoTime();

		private int failures;

		Beating(Listener listener) {
			this.listener = listener;
			this.thread.setDaemon(true);
		}

		void start() {
			this.thread.start();
		}

		/** A beat that is under way is waited for, or it could undo the goodbye. */
		void end() {
			this.ending.countDown();
			try {
				this.thread.join(2 * BEAT_TIMEOUT_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		@Override
		public void run() {
			long pause = 0;
			while (!endingWithin(pause)) {
				RedisClusterAsyncCommands<byte[], byte[]> commands = RedisPulse.this.commands.get();
				if (commands == null) {
					pause = NOT_CONNECTED_MILLIS;
					continue;
				}
				long start = System.nanoTime();
				beat(commands, start);
				long taken = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
				long period = PERIOD_MILLIS + ThreadLocalRandom.current().nextLong(JITTER_MILLIS + 1);
				pause = Math.max(0, period - taken);
			}
		}

		private void beat(RedisClusterAsyncCommands<byte[], byte[]> commands, long start) {
			try {
				// Told on the connection's thread, where replies keep their order: a beat
				// from before a switch was set must not be heard after it.
				CompletableFuture<Void> beat = LuaScript.PULSE.call(commands, this.keys, this.arguments)
					.thenAccept((reply) -> tell(reply, start))
					.toCompletableFuture();
				beat.get(BEAT_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
				worked();
			}
			catch (ExecutionException ex) {
				failed((ex.getCause() != null) ? ex.getCause() : ex);
			}
			catch (TimeoutException | RuntimeException ex) {
				failed(ex);
			}
			catch (InterruptedException ex) {
				this.ending.countDown();
			}
		}

		private void tell(List<Object> reply, long start) {
			long now = System.nanoTime();
			PulseReply beat = PulseReply.decode(reply, now - start);
			if (!beat.known()) {
				this.unknownAt = now;
			}
			this.listener.beat(beat.instances(), now - this.unknownAt >= SILENCE.toNanos(), beat.forced());
		}

		private void worked() {
			if (this.failures >= FAILURES_UNTIL_GONE) {
				logger.info("This instance is counted in the fleet again");
			}
			this.failures = 0;
		}

		private void failed(Throwable failure) {
			this.failures++;
			if (this.failures == FAILURES_UNTIL_GONE) {
				logger
					.warn("Redis has not taken a heartbeat for {} s ({}): the number of instances and the switch stay "
							+ "as they were last seen", SILENCE.toSeconds(), failure.toString());
			}
			else if (this.failures == 1) {
				logger.debug("Heartbeat failed", failure);
			}
		}

		private boolean endingWithin(long millis) {
			try {
				return this.ending.await(millis, TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				return true;
			}
		}

	}

}
