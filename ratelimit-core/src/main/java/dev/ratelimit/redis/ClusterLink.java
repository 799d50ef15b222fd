package dev.ratelimit.redis;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;

import dev.ratelimit.counter.Counter;

/**
 * A connection to a cluster. Commands go to primaries only, and a node that has become a
 * replica says where its slots have gone, so that nothing has to be checked.
 */
final class ClusterLink implements Link {

	/** What a slot that nobody keeps is kept by. */
	private static final String NOBODY = "none";

	private final StatefulRedisClusterConnection<byte[], byte[]> connection;

	private final Map<String, String> names = new ConcurrentHashMap<>();

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

	@Override
	public int slot(Counter counter) {
		return SlotHash.getSlot(counter.key());
	}

	@Override
	public String node(Counter counter) {
		RedisClusterNode node = this.connection.getPartitions().getMasterBySlot(slot(counter));
		return (node != null) ? this.names.computeIfAbsent(node.getNodeId(), (id) -> name(node.getUri())) : NOBODY;
	}

	/**
	 * Some node of a cluster is always away. It learns the script when it is asked for
	 * it.
	 */
	@Override
	public CompletionStage<Void> load(LuaScript script) {
		return commands().scriptLoad(script.text()).handle((sha, failure) -> null);
	}

	/**
	 * Only where it is missing: to wait for all nodes would be to wait for a sick one.
	 */
	@Override
	public CompletionStage<Void> load(LuaScript script, Counter counter) {
		RedisClusterNode node = this.connection.getPartitions().getMasterBySlot(slot(counter));
		if (node == null) {
			return CompletableFuture.completedStage(null);
		}
		return this.connection.getConnectionAsync(node.getUri().getHost(), node.getUri().getPort())
			.thenCompose((one) -> one.async().scriptLoad(script.text()))
			.handle((sha, failure) -> null);
	}

	@Override
	public void demoted() {
		// The cluster itself tells where to go.
	}

	@Override
	public void close() {
		Closing.await(this.connection.closeAsync());
	}

}
