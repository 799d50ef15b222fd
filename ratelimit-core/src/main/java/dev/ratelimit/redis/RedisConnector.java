package dev.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the limiter's own connection. An application starts whether Redis is there or
 * not: connecting is tried in the background until it succeeds, from then on Lettuce
 * reconnects by itself. Until then calls fail at once rather than wait.
 */
public final class RedisConnector implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisConnector.class);

	private static final long LONGEST_PAUSE_MILLIS = 1_000;

	private final Supplier<Connected> connect;

	private final boolean cluster;

	private final CountDownLatch first = new CountDownLatch(1);

	private final CountDownLatch closing = new CountDownLatch(1);

	private volatile @Nullable Connected connected;

	private RedisConnector(Supplier<Connected> connect, boolean cluster) {
		this.connect = connect;
		this.cluster = cluster;
	}

	/**
	 * To a single Redis or, if the client knows Sentinels, to the primary they name.
	 */
	public static RedisConnector to(RedisClient client) {
		return new RedisConnector(() -> {
			StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
			return new Connected(connection, connection.async());
		}, false);
	}

	/**
	 * To a cluster.
	 */
	public static RedisConnector to(RedisClusterClient client) {
		return new RedisConnector(() -> {
			StatefulRedisClusterConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
			return new Connected(connection, connection.async());
		}, true);
	}

	/**
	 * Starts to connect and waits a little, so that an application whose Redis is there
	 * starts with it.
	 * @param patience how long to wait for the first connection
	 * @return whether it holds
	 */
	public boolean start(Duration patience) {
		Thread thread = new Thread(this::connect, "ratelimit-redis-connect");
		thread.setDaemon(true);
		thread.start();
		try {
			this.first.await(patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return this.connected != null;
	}

	/**
	 * The commands of the connection, {@code null} until there is one.
	 */
	@Nullable RedisClusterAsyncCommands<byte[], byte[]> commands() {
		Connected connected = this.connected;
		return (connected != null) ? connected.commands() : null;
	}

	boolean cluster() {
		return this.cluster;
	}

	@Override
	public void close() {
		this.closing.countDown();
		Connected connected = this.connected;
		if (connected != null) {
			connected.connection().close();
		}
	}

	private void connect() {
		long pause = 50;
		boolean warned = false;
		while (this.closing.getCount() > 0) {
			try {
				publish(loaded(this.connect.get()));
				return;
			}
			catch (RuntimeException ex) {
				if (!warned) {
					warned = true;
					logger.warn("Redis cannot be reached ({}); policies use their failure mode until it can",
							rootCause(ex).getMessage());
				}
				this.first.countDown();
			}
			pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
			if (closingWithin(ThreadLocalRandom.current().nextLong(1, pause + 1))) {
				return;
			}
		}
	}

	/** A connection that may not load scripts is of no use, and must not stay behind. */
	private static Connected loaded(Connected connected) {
		try {
			RedisCounters.load(connected.commands()).toCompletableFuture().join();
			return connected;
		}
		catch (RuntimeException ex) {
			connected.connection().closeAsync();
			throw ex;
		}
	}

	/** What Redis itself said, such as that the password is wrong, is at the bottom. */
	private static Throwable rootCause(Throwable failure) {
		Throwable cause = failure;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	private void publish(Connected connected) {
		this.connected = connected;
		this.first.countDown();
		if (this.closing.getCount() == 0) {
			connected.connection().close();
		}
		logger.debug("Connected to Redis, scripts loaded");
	}

	private boolean closingWithin(long millis) {
		try {
			return this.closing.await(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return true;
		}
	}

	private record Connected(StatefulConnection<byte[], byte[]> connection,
			RedisClusterAsyncCommands<byte[], byte[]> commands) {
	}

}
