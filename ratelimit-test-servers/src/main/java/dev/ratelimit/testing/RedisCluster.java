package dev.ratelimit.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;

/**
 * A real Redis Cluster of three primaries or more with a replica each, which fails over
 * about three seconds after a primary is frozen or killed.
 */
public final class RedisCluster implements AutoCloseable {

	private static final int PRIMARIES = 3;

	private static final Set<NodeFlag> TROUBLE = Set.of(NodeFlag.FAIL, NodeFlag.EVENTUAL_FAIL, NodeFlag.HANDSHAKE,
			NodeFlag.NOADDR);

	private final List<RedisServer> servers = new ArrayList<>();

	private final int primaries;

	private RedisCluster(int primaries) {
		this.primaries = primaries;
	}

	/** One that fails over soon after a node is gone, for fault tests. */
	public static RedisCluster start() {
		return start(Duration.ofSeconds(1));
	}

	/**
	 * One that takes this long to believe that a node is gone. On a busy machine a node
	 * may be silent for a second without being gone.
	 */
	public static RedisCluster start(Duration nodeTimeout) {
		return start(PRIMARIES, nodeTimeout);
	}

	/**
	 * One of another size.
	 * @param primaries at least three, or no majority could promote a replica
	 */
	public static RedisCluster start(int primaries, Duration nodeTimeout) {
		RedisCluster cluster = new RedisCluster(primaries);
		try {
			cluster.startServers(nodeTimeout);
			cluster.join();
			cluster.awaitStable();
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	/** All nodes; which are primaries may change with every failover. */
	public List<RedisServer> servers() {
		return List.copyOf(this.servers);
	}

	public List<RedisURI> uris() {
		return this.servers.stream().map(RedisServer::uri).toList();
	}

	/** The node that owns the key's slot now, in the eyes of those that can answer. */
	public RedisServer primaryOf(String key) {
		int slot = SlotHash.getSlot(key);
		// A node that has just been thawed may still believe in an older epoch.
		RedisClusterNode owner = responsive().map(RedisCluster::nodes)
			.flatMap(Partitions::stream)
			.filter((node) -> node.hasSlot(slot))
			.max(Comparator.comparingLong(RedisClusterNode::getConfigEpoch))
			.orElseThrow(() -> new IllegalStateException("No node owns slot " + slot));
		return this.servers.stream()
			.filter((server) -> server.port() == owner.getUri().getPort())
			.findFirst()
			.orElseThrow();
	}

	/** The replica that would take over the key's slot. */
	public RedisServer replicaOf(String key) {
		String primary = primaryOf(key).cli("CLUSTER", "MYID");
		return responsive()
			.filter((server) -> primary
				.equals(nodes(server).getPartitionByNodeId(server.cli("CLUSTER", "MYID")).getSlaveOf()))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("No replica of " + primaryOf(key) + " can answer"));
	}

	/** Waits until this node owns the key's slot in the eyes of all that can answer. */
	public void awaitPrimaryOf(String key, RedisServer expected) {
		int slot = SlotHash.getSlot(key);
		ServerHome.await(expected + " to own slot " + slot)
			.ignoreExceptions()
			.until(() -> responsive().allMatch((server) -> expected.port() == ownerPort(nodes(server), slot)));
	}

	/**
	 * Prepares to move the key's slot to another primary, step by step. A cluster that
	 * other tests share should have no slot left half moved.
	 */
	public Resharding reshard(String key, RedisServer to) {
		return new Resharding(this, key, primaryOf(key), to);
	}

	/** Those that are primaries now and can answer. */
	public List<RedisServer> primaries() {
		return responsive().filter((server) -> server.cli("ROLE").startsWith("master")).toList();
	}

	/** Empties all primaries that can answer. */
	public void flush() {
		responsive().forEach((server) -> {
			String reply = server.sendInline("FLUSHALL");
			if (!reply.equals("+OK") && !reply.startsWith("-READONLY")) {
				throw new IllegalStateException("FLUSHALL on " + server + ": " + reply);
			}
		});
	}

	@Override
	public void close() {
		this.servers.forEach(RedisServer::close);
	}

	/** Brings all nodes back, waits until they agree, and empties them. */
	void reset() {
		// Not short-circuited: every node is to be revived.
		long disturbed = this.servers.stream().filter(RedisServer::revive).count();
		if (disturbed > 0) {
			awaitStable();
		}
		flush();
	}

	private void startServers(Duration nodeTimeout) {
		for (int i = 0; i < 2 * this.primaries; i++) {
			this.servers.add(RedisServer.start("--cluster-enabled", "yes", "--cluster-node-timeout",
					String.valueOf(nodeTimeout.toMillis()), "--cluster-require-full-coverage", "no"));
		}
	}

	private void join() {
		RedisServer first = this.servers.get(0);
		for (int i = 0; i < this.servers.size(); i++) {
			RedisServer server = this.servers.get(i);
			server.cli("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
			if (i < this.primaries) {
				// Not ADDSLOTSRANGE, which Redis 6.2 does not know.
				server.cli(
						Stream
							.concat(Stream.of("CLUSTER", "ADDSLOTS"),
									IntStream
										.range(SlotHash.SLOT_COUNT * i / this.primaries,
												SlotHash.SLOT_COUNT * (i + 1) / this.primaries)
										.mapToObj(String::valueOf))
							.toArray(String[]::new));
			}
			if (i > 0) {
				first.cli("CLUSTER", "MEET", server.host(), String.valueOf(server.port()));
			}
		}
		for (int i = 0; i < this.primaries; i++) {
			String primary = this.servers.get(i).cli("CLUSTER", "MYID");
			RedisServer replica = this.servers.get(this.primaries + i);
			// Refused until the replica has heard of the primary.
			ServerHome.await("replica to join")
				.ignoreExceptions()
				.until(() -> replica.cli("CLUSTER", "REPLICATE", primary).equals("OK"));
		}
	}

	private void awaitStable() {
		for (RedisServer server : this.servers) {
			ServerHome.await(server + " to see a healthy cluster").ignoreExceptions().until(() -> isStable(server));
		}
	}

	private boolean isStable(RedisServer server) {
		Partitions nodes = nodes(server);
		boolean healthy = nodes.stream().allMatch((node) -> node.isConnected() && TROUBLE.stream().noneMatch(node::is));
		long primaries = nodes.stream().filter((node) -> !node.hasNoSlots()).count();
		long replicas = nodes.stream().filter((node) -> node.getRole().isReplica()).count();
		String replication = server.cli("INFO", "replication");
		boolean linked = replication.contains("role:master") ? replication.contains("connected_slaves:1")
				: replication.contains("master_link_status:up");
		return healthy && primaries == this.primaries && replicas == this.primaries && linked
				&& server.cli("CLUSTER", "INFO").contains("cluster_state:ok");
	}

	private Stream<RedisServer> responsive() {
		return this.servers.stream().filter(RedisServer::responsive);
	}

	private static int ownerPort(Partitions nodes, int slot) {
		RedisClusterNode owner = nodes.getPartitionBySlot(slot);
		return (owner != null) ? owner.getUri().getPort() : -1;
	}

	private static Partitions nodes(RedisServer server) {
		return ClusterPartitionParser.parse(server.cli("CLUSTER", "NODES"));
	}

}
