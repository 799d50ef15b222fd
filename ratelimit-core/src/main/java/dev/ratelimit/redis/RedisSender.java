package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Sends all commands other than checks. Without a connection to a primary a command fails
 * at once. The answer is awaited for a bounded time. Nothing is thrown.
 */
public final class RedisSender {

	private final Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands;

	RedisSender(Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands) {
		this.commands = commands;
	}

	public static RedisSender on(RedisConnector connector) {
		return new RedisSender(connector::commands);
	}

	public boolean isConnected() {
		return this.commands.get() != null;
	}

	/**
	 * Sends a command.
	 * @param timeout after which the stage fails; Redis may still execute the command
	 */
	public <T> CompletionStage<T> send(Duration timeout,
			Function<RedisClusterAsyncCommands<byte[], byte[]>, ? extends CompletionStage<T>> command) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.get();
		if (commands == null) {
			return CompletableFuture.failedStage(RedisErrors.NOT_CONNECTED);
		}
		try {
			// A copy: the client's own future must not end before Redis has answered.
			return command.apply(commands)
				.toCompletableFuture()
				.copy()
				.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	public CompletionStage<List<Object>> call(LuaScript script, byte[][] keys, byte[][] arguments, Duration timeout) {
		return send(timeout, (commands) -> script.call(commands, keys, arguments));
	}

	public static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	public static byte[] bytes(long number) {
		return bytes(Long.toString(number));
	}

	/** The text of each value. */
	public static byte[][] bytes(List<?> values) {
		return values.stream().map((value) -> bytes(value.toString())).toArray(byte[][]::new);
	}

}
