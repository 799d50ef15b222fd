package dev.ratelimit.redis;

import java.util.concurrent.CompletionStage;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;

/**
 * A connection to Redis, single or cluster, as the counters see it.
 */
interface Link extends AutoCloseable {

	/**
	 * Where to send commands, {@code null} while there is no primary to send them to.
	 */
	@Nullable RedisClusterAsyncCommands<byte[], byte[]> commands();

	/**
	 * The connection that commands for the counter's node leave by, {@code null} if it
	 * does not hold now. It follows no redirects.
	 */
	@Nullable StatefulRedisConnection<byte[], byte[]> connection(Counter counter);

	/**
	 * What counters must share to be named in one call.
	 */
	int slot(Counter counter);

	/**
	 * Who keeps the counter.
	 */
	String node(Counter counter);

	/**
	 * Teaches a script to every node that may be asked for it.
	 */
	CompletionStage<Void> load(LuaScript script);

	/**
	 * Teaches a script to the node that keeps the counter.
	 */
	CompletionStage<Void> load(LuaScript script, Counter counter);

	/**
	 * A node said that it is a replica.
	 */
	void demoted();

	/**
	 * Closes the connection and waits a little until it is.
	 */
	@Override
	void close();

}
