package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

import io.lettuce.core.KeyValue;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Loop;
import dev.ratelimit.caller.Salt;

/**
 * Shares a salt in the fleet if none is configured: the first instance writes its own to
 * Redis and the others use it. Every instance reads it again every few seconds, to write
 * it after Redis has lost it and to end a disagreement soon.
 *
 * <p>
 * Until Redis has answered, an instance uses a salt of its own. It counts next to nothing
 * in Redis in that time.
 */
public final class RedisSalt implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisSalt.class);

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	private static final Duration NOT_CONNECTED_PAUSE = Duration.ofMillis(20);

	private final RedisSender sender;

	private final byte[] key;

	private final Salt salt;

	private final Duration period;

	private final FailureLog failures = new FailureLog(logger,
			"The salt of the fleet could not be read ({}). Until it is, each instance counts by its own salt what is "
					+ "counted by hashed values, unless it has read the salt before",
			"The salt of the fleet could be read again");

	private final Loop loop = new Loop("ratelimit-salt", this::turn);

	RedisSalt(RedisSender sender, String prefix, Salt salt, Duration period) {
		this.sender = sender;
		this.key = RedisSender.bytes(prefix + ":{fleet}:salt");
		this.salt = salt;
		this.period = period;
	}

	/**
	 * @param connector the limiter's connection
	 * @param prefix first part of the key
	 * @param salt this instance's own, which becomes the fleet's
	 */
	public static RedisSalt on(RedisConnector connector, String prefix, Salt salt) {
		return new RedisSalt(RedisSender.on(connector), prefix, salt, Duration.ofSeconds(5));
	}

	/**
	 * Reads the salt at once, before the first check, and then every few seconds.
	 */
	public void start() {
		this.loop.startAfterFirstTurn();
	}

	@Override
	public void close() {
		this.loop.end(TIMEOUT.multipliedBy(4));
	}

	private Duration turn() throws InterruptedException {
		if (!this.sender.isConnected()) {
			// There may be another Redis behind the next connection.
			return NOT_CONNECTED_PAUSE;
		}
		try {
			agree();
			this.failures.worked();
			return this.period;
		}
		catch (ExecutionException | RuntimeException ex) {
			this.failures.failed(Futures.cause(ex).toString());
			return TIMEOUT;
		}
	}

	private void agree() throws InterruptedException, ExecutionException {
		String shared = read();
		if (shared == null) {
			answer((commands) -> commands.set(this.key, RedisSender.bytes(this.salt.text()), SetArgs.Builder.nx()));
			shared = read();
		}
		if (shared == null || shared.isEmpty()) {
			throw new IllegalStateException("its key holds something else");
		}
		if (!shared.equals(this.salt.text())) {
			this.salt.become(shared);
			logger.debug("This instance uses the salt of the fleet from now on");
		}
	}

	/**
	 * By MGET, which the limiter's Redis user may call anyway; GET needs another right.
	 */
	private @Nullable String read() throws InterruptedException, ExecutionException {
		KeyValue<byte[], byte[]> found = answer((commands) -> commands.mget(this.key)).get(0);
		return found.hasValue() ? new String(found.getValue(), StandardCharsets.UTF_8) : null;
	}

	private <T> T answer(Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command)
			throws InterruptedException, ExecutionException {
		return this.sender.send(TIMEOUT, command).toCompletableFuture().get();
	}

}
