package dev.ratelimit.redis;

import java.util.concurrent.CompletionStage;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;

/**
 * A connection to a single Redis or to a cluster.
 */
interface Link extends AutoCloseable {

	/**
	 * The commands of the connection, {@code null} while it leads to no primary.
	 */
	@Nullable RedisClusterAsyncCommands<byte[], byte[]> commands();

	/**
	 * The connection to the counter's node, {@code null} if there is none now. It follows
	 * no redirects.
	 */
	@Nullable StatefulRedisConnection<byte[], byte[]> connection(Counter counter);

	/**
	 * The name of the node that keeps the counter.
	 */
	String node(Counter counter);

	/**
	 * Loads a script on every node that can be reached.
	 */
	CompletionStage<Void> load(LuaScript script);

	/**
	 * Reports that a node answered as a replica.
	 */
	void demoted();

	/**
	 * Closes the connection and waits a little until it is.
	 */
	@Override
	void close();

}
