package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;

import dev.ratelimit.store.FleetSums;

/**
 * Sums of the fleet in Redis: a hash for each name, beside the records of the store.
 */
public final class RedisFleetSums implements FleetSums {

	private static final long TIMEOUT_MILLIS = 1_000;

	private static final long EXPIRY_MILLIS = Duration.ofDays(1).toMillis();

	private final RedisConnector connector;

	private final String prefix;

	private RedisFleetSums(RedisConnector connector, String prefix) {
		this.connector = connector;
		this.prefix = prefix + ":{policies}:sums:";
	}

	/**
	 * Those of a fleet.
	 * @param connector the connection of its store
	 * @param prefix first part of the keys
	 */
	public static RedisFleetSums on(RedisConnector connector, String prefix) {
		return new RedisFleetSums(connector, prefix);
	}

	@Override
	public CompletionStage<List<Long>> add(String name, List<Long> numbers) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connector.commands();
		if (commands == null) {
			return CompletableFuture.failedStage(new RedisConnectionException("not connected to Redis"));
		}
		byte[][] keys = { bytes(this.prefix + name) };
		byte[][] arguments = Stream.concat(Stream.of(EXPIRY_MILLIS), numbers.stream())
			.map((number) -> bytes(Long.toString(number)))
			.toArray(byte[][]::new);
		try {
			return LuaScript.FLEET_SUMS.call(commands, keys, arguments)
				.toCompletableFuture()
				.orTimeout(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
				.thenApply((reply) -> reply.stream().map((sum) -> (Long) sum).toList());
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
