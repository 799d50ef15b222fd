package dev.ratelimit.benchmarks.chaos;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.testing.ChaosProxy;

/**
 * Proxies before the nodes of a Redis, with the faults of each. Every node of a cluster
 * has its own and announces the proxy's port, so clients are led through the proxies.
 * Replicas follow the announced ports too: a fault also hits replication.
 */
final class ProxiedNodes implements AutoCloseable {

	private static final String ANNOUNCED = "cluster-announce-port";

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	/** Nodes pass on what they know about once a second. */
	private static final Duration GOSSIP = Duration.ofSeconds(30);

	private final Map<ChaosProxy, Faults> proxies = new LinkedHashMap<>();

	/** What nodes announced before. */
	private final Map<RedisURI, String> announced = new LinkedHashMap<>();

	/**
	 * Starts a proxy before each server.
	 * @param servers "host:port", on this machine
	 * @param listen ports of the proxies in the same order; any port where there is none
	 */
	static ProxiedNodes before(List<String> servers, List<Integer> listen) {
		ProxiedNodes nodes = new ProxiedNodes();
		try {
			for (int i = 0; i < servers.size(); i++) {
				RedisURI server = local(servers.get(i));
				nodes.start(server, (i < listen.size()) ? listen.get(i) : 0);
			}
			return nodes;
		}
		catch (RuntimeException ex) {
			nodes.close();
			throw ex;
		}
	}

	/**
	 * Starts a proxy before each node of the cluster to which this node belongs, and
	 * returns when all nodes know the new ports.
	 */
	public static ProxiedNodes beforeClusterOf(String node) {
		ProxiedNodes nodes = new ProxiedNodes();
		try {
			for (RedisClusterNode each : ClusterPartitionParser
				.parse(call(local(node), (c) -> c.sync().clusterNodes()))) {
				RedisURI server = local(each.getUri().getHost() + ":" + each.getUri().getPort());
				ChaosProxy proxy = nodes.start(server, 0);
				nodes.announced.put(server,
						call(server, (c) -> c.sync().configGet(ANNOUNCED).getOrDefault(ANNOUNCED, "0")));
				call(server, (c) -> c.sync().configSet(ANNOUNCED, String.valueOf(proxy.port())));
			}
			nodes.awaitAnnouncements();
			return nodes;
		}
		catch (RuntimeException ex) {
			nodes.close();
			throw ex;
		}
	}

	private void awaitAnnouncements() {
		Awaitility.await().atMost(GOSSIP).ignoreExceptions().until(this::announcedEverywhere);
	}

	private boolean announcedEverywhere() {
		return this.announced.keySet().stream().map(ProxiedNodes::view).allMatch(this::namesAllProxies);
	}

	private static String view(RedisURI server) {
		return call(server, (connection) -> connection.sync().clusterNodes());
	}

	private boolean namesAllProxies(String view) {
		return this.proxies.keySet().stream().allMatch((proxy) -> view.contains(":" + proxy.port() + "@"));
	}

	private ChaosProxy start(RedisURI server, int listen) {
		ChaosProxy proxy = ChaosProxy.before(server.getHost(), server.getPort(), listen);
		this.proxies.put(proxy, Faults.NONE);
		return proxy;
	}

	private static RedisURI local(String server) {
		int colon = server.lastIndexOf(':');
		try {
			RedisURI uri = RedisURI.create(server.substring(0, Math.max(0, colon)),
					Integer.parseInt(server.substring(colon + 1)));
			if (!InetAddress.getByName(uri.getHost()).isLoopbackAddress()) {
				throw new IllegalArgumentException(server + " is not on this machine");
			}
			uri.setTimeout(PATIENCE);
			return uri;
		}
		catch (NumberFormatException | UnknownHostException ex) {
			throw new IllegalArgumentException("'" + server + "' is not host:port", ex);
		}
	}

	private static String call(RedisURI server, Call call) {
		RedisClient client = RedisClient.create(server);
		try (StatefulRedisConnection<String, String> connection = client.connect()) {
			return call.on(connection);
		}
		finally {
			client.shutdown(Duration.ZERO, PATIENCE);
		}
	}

	/**
	 * Changes faults; what is not named stays.
	 * @param node port of a proxy or of its server, {@code null} for all
	 */
	public synchronized void change(@Nullable String node, Map<String, String> changes) {
		List<ChaosProxy> chosen = chosen(node);
		Map<ChaosProxy, Faults> changed = new LinkedHashMap<>();
		chosen.forEach((proxy) -> changed.put(proxy, faults(proxy).with(changes)));
		changed.forEach(this::apply);
	}

	/** Ends the faults of a node or of all. */
	synchronized void heal(@Nullable String node) {
		chosen(node).forEach((proxy) -> apply(proxy, Faults.NONE));
	}

	private void apply(ChaosProxy proxy, Faults faults) {
		this.proxies.put(proxy, faults);
		faults.apply(proxy);
	}

	private Faults faults(ChaosProxy proxy) {
		return this.proxies.getOrDefault(proxy, Faults.NONE);
	}

	private List<ChaosProxy> chosen(@Nullable String node) {
		List<ChaosProxy> chosen = this.proxies.keySet()
			.stream()
			.filter((proxy) -> node == null || node.equals(String.valueOf(proxy.port()))
					|| node.equals(String.valueOf(proxy.target().getPort())))
			.toList();
		if (chosen.isEmpty()) {
			throw new IllegalArgumentException("no proxy has the port " + node + " or leads to it");
		}
		return chosen;
	}

	public synchronized List<Node> nodes() {
		List<Node> nodes = new ArrayList<>();
		this.proxies.forEach((proxy, faults) -> nodes
			.add(new Node(proxy.port(), proxy.target().getPort(), proxy.accepted().size(), faults.toString())));
		return nodes;
	}

	/** Nodes announce again what they did before, and the proxies end. */
	@Override
	public synchronized void close() {
		this.announced.forEach((server, port) -> {
			try {
				call(server, (c) -> c.sync().configSet(ANNOUNCED, port));
			}
			catch (RuntimeException ex) {
				System.err.println("The node on port " + server.getPort() + " still announces the port of its proxy. "
						+ "Run CONFIG SET " + ANNOUNCED + " " + port + " on it: " + ex.getMessage());
			}
		});
		this.announced.clear();
		this.proxies.keySet().forEach(ChaosProxy::close);
		this.proxies.clear();
	}

	private interface Call {

		String on(StatefulRedisConnection<String, String> connection);

	}

	/**
	 * A proxy.
	 *
	 * @param port where it listens
	 * @param before port of the server behind it
	 * @param accepted how many connections it has accepted
	 * @param faults that are in force
	 */
	public record Node(int port, int before, int accepted, String faults) {
	}

}
