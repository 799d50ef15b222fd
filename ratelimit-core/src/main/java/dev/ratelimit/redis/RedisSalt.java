package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.lettuce.core.KeyValue;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.counter.Salt;

/**
 * Makes the instances of a fleet agree on a salt that nobody has configured: the first of
 * them leaves its own in Redis, the others take that over. It is looked at again every
 * few seconds, so that it is written again after Redis has lost it, and so that two
 * instances that disagree all the same do so only for a moment.
 *
 * <p>
 * Until Redis has answered, an instance uses a salt of its own. It can hardly count
 * anything in Redis in that time, so next to nothing is lost with it.
 */
public final class RedisSalt implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisSalt.class);

	private static final long TIMEOUT_MILLIS = 500;

	private static final long NOT_CONNECTED_MILLIS = 20;

	private final Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands;

	private final byte[] key;

	private final Salt salt;

	private final long periodMillis;

	private final CountDownLatch ending = new CountDownLatch(1);

	private boolean agreed;

	private boolean failing;

	private @Nullable Thread thread;

	RedisSalt(Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands, String prefix, Salt salt,
			Duration period) {
		this.commands = commands;
		this.key = (prefix + ":{fleet}:salt").getBytes(StandardCharsets.UTF_8);
		this.salt = salt;
		this.periodMillis = period.toMillis();
	}

	/**
	 * The salt of a fleet.
	 * @param connector the limiter's connection
	 * @param prefix first part of the key
	 * @param salt this instance's own, which becomes the fleet's
	 */
	public static RedisSalt on(RedisConnector connector, String prefix, Salt salt) {
		return new RedisSalt(connector::commands, prefix, salt, Duration.ofSeconds(5));
	}

	/**
	 * Asks Redis at once, so that an application whose Redis is there starts with the
	 * salt of the fleet, and every few seconds from then on.
	 */
	public synchronized void start() {
		if (this.thread == null) {
			agree();
			this.thread = new Thread(this::run, "ratelimit-salt");
			this.thread.setDaemon(true);
			this.thread.start();
		}
	}

	@Override
	public synchronized void close() {
		this.ending.countDown();
		if (this.thread != null) {
			try {
				this.thread.join(4 * TIMEOUT_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private void run() {
		try {
			while (!this.ending.await(pauseMillis(), TimeUnit.MILLISECONDS)) {
				agree();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private long pauseMillis() {
		return this.agreed ? this.periodMillis : this.failing ? TIMEOUT_MILLIS : NOT_CONNECTED_MILLIS;
	}

	private void agree() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.get();
		if (commands == null) {
			// There may be another Redis behind the next connection.
			this.agreed = false;
			return;
		}
		try {
			String shared = read(commands);
			if (shared == null) {
				answer(commands.set(this.key, this.salt.text().getBytes(StandardCharsets.UTF_8), SetArgs.Builder.nx()));
				shared = read(commands);
			}
			if (shared == null || shared.isEmpty()) {
				throw new IllegalStateException("there is something else in its place");
			}
			take(shared);
		}
		catch (ExecutionException | TimeoutException | RuntimeException ex) {
			failed(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Not by GET, which the limiter's user may not need otherwise. */
	private @Nullable String read(RedisClusterAsyncCommands<byte[], byte[]> commands)
			throws InterruptedException, ExecutionException, TimeoutException {
		KeyValue<byte[], byte[]> found = answer(commands.mget(this.key)).get(0);
		return found.hasValue() ? new String(found.getValue(), StandardCharsets.UTF_8) : null;
	}

	private static <T> T answer(CompletionStage<T> stage)
			throws InterruptedException, ExecutionException, TimeoutException {
		return stage.toCompletableFuture().get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
	}

	private void take(String shared) {
		if (!shared.equals(this.salt.text())) {
			this.salt.become(shared);
			logger.debug("This instance uses the salt of the fleet from now on");
		}
		this.agreed = true;
		this.failing = false;
	}

	private void failed(Exception failure) {
		if (!this.failing) {
			this.failing = true;
			logger.warn("The salt of the fleet could not be read ({}); until it is, what counts by hashed values is "
					+ "counted by each instance for itself unless it has read it before", failure.toString());
		}
	}

}
