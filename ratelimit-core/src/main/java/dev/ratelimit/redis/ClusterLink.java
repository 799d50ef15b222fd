package dev.ratelimit.redis;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;

/**
 * A connection to a cluster. Commands go to primaries only. A node that has become a
 * replica redirects to the owner of its slots, so its role need not be checked.
 */
final class ClusterLink implements Link {

	/** Name of the node of an unassigned slot. */
	private static final String NO_NODE = "none";

	private final StatefulRedisClusterConnection<byte[], byte[]> connection;

	/** By node id. A node may come back with another address. */
	private final Map<String, Named> names = new ConcurrentHashMap<>();

	ClusterLink(StatefulRedisClusterConnection<byte[], byte[]> connection) {
		this.connection = connection;
	}

	static String name(RedisURI uri) {
		return uri.getHost() + ":" + uri.getPort();
	}

	@Override
	public RedisClusterAsyncCommands<byte[], byte[]> commands() {
		return this.connection.async();
	}

	/**
	 * Looked up by host and port, as the client does for a slot: so it is the same
	 * connection, and calls keep their order.
	 */
	@Override
	public @Nullable StatefulRedisConnection<byte[], byte[]> connection(Counter counter) {
		RedisClusterNode node = primary(counter);
		if (node == null) {
			return null;
		}
		CompletableFuture<StatefulRedisConnection<byte[], byte[]>> made = this.connection
			.getConnectionAsync(node.getUri().getHost(), node.getUri().getPort());
		return (made.isDone() && !made.isCompletedExceptionally()) ? made.join() : null;
	}

	@Override
	public String node(Counter counter) {
		RedisClusterNode node = primary(counter);
		if (node == null) {
			return NO_NODE;
		}
		Named known = this.names.get(node.getNodeId());
		return (known != null && known.is(node.getUri())) ? known.name() : named(node);
	}

	private String named(RedisClusterNode node) {
		RedisURI uri = node.getUri();
		Partitions nodes = this.connection.getPartitions();
		if (this.names.size() > nodes.size()) {
			this.names.keySet().removeIf((id) -> nodes.getPartitionByNodeId(id) == null);
		}
		String name = name(uri);
		this.names.put(node.getNodeId(), new Named(uri.getHost(), uri.getPort(), name));
		return name;
	}

	/**
	 * Ignores failures: some nodes may be away. They get the script with the first call
	 * that needs it.
	 */
	@Override
	public CompletionStage<Void> load(LuaScript script) {
		return commands().scriptLoad(script.text()).handle((sha, failure) -> null);
	}

	@Override
	public void demoted() {
		// The cluster redirects.
	}

	@Override
	public void close() {
		Closing.await(this.connection.closeAsync());
	}

	private @Nullable RedisClusterNode primary(Counter counter) {
		return this.connection.getPartitions().getMasterBySlot(counter.slot());
	}

	private record Named(String host, int port, String name) {

		boolean is(RedisURI uri) {
			return this.port == uri.getPort() && this.host.equals(uri.getHost());
		}

	}

}
