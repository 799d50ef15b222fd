package dev.ratelimit.redis;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.event.ClusterTopologyChangedEvent;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Loop;

/**
 * Opens the limiter's own connection in the background, so that an application starts
 * without Redis. Once connected, Lettuce reconnects by itself; only a connection that
 * leads to a replica is replaced here. Without a connection calls fail at once.
 */
public final class RedisConnector implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisConnector.class);

	private static final long FIRST_PAUSE_MILLIS = 50;

	private static final long LONGEST_PAUSE_MILLIS = 1_000;

	private final String name;

	private final boolean cluster;

	private final Supplier<Link> connect;

	private final Supplier<StatefulRedisPubSubConnection<String, String>> subscriber;

	private final Runnable refresh;

	private final Supplier<Set<String>> topology;

	private final Supplier<Set<String>> counting;

	private final CountDownLatch first = new CountDownLatch(1);

	private final Loop loop = new Loop("ratelimit-redis-connect", this::connect);

	private final FailureLog failures = new FailureLog(logger, "Redis {} cannot be used ({}); {}",
			"Redis {} can be used again");

	private long pauseMillis = FIRST_PAUSE_MILLIS;

	private volatile String meanwhile = "policies use their failure mode until it can";

	private volatile boolean closed;

	private volatile Listener listener = Listener.NONE;

	private volatile @Nullable Link link;

	private RedisConnector(RedisClient client, String name) {
		this.name = name;
		this.cluster = false;
		this.subscriber = client::connectPubSub;
		this.connect = () -> ready(new SingleLink(client.connect(ByteArrayCodec.INSTANCE), name,
				() -> this.listener.connected(name), this.loop::wake), SingleLink::verify);
		this.refresh = () -> {
		};
		this.topology = () -> Set.of(name);
		this.counting = this.topology;
	}

	private RedisConnector(RedisClusterClient client) {
		this.name = "cluster";
		this.cluster = true;
		this.topology = () -> names(client.getPartitions(), (node) -> true);
		this.counting = () -> names(client.getPartitions(), RedisConnector::keepsCounters);
		this.subscriber = client::connectPubSub;
		this.connect = () -> new ClusterLink(client.connect(ByteArrayCodec.INSTANCE));
		this.refresh = client::refreshPartitionsAsync;
		client.addListener(new RedisConnectionStateListener() {

			@Override
			public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
				if (address instanceof InetSocketAddress inet) {
					RedisConnector.this.listener.connected(inet.getHostString() + ":" + inet.getPort());
				}
			}

		});
		client.getResources()
			.eventBus()
			.get()
			.ofType(ClusterTopologyChangedEvent.class)
			// The client publishes the event before it uses the new nodes itself.
			.subscribe((event) -> this.listener.nodes(names(event.after(), (node) -> true),
					names(event.after(), RedisConnector::keepsCounters)));
	}

	/**
	 * To a single Redis or, if the client knows Sentinels, to the primary they name.
	 * @param node name of the node in logs and meters
	 */
	public static RedisConnector to(RedisClient client, String node) {
		return new RedisConnector(client, node);
	}

	/**
	 * To a cluster.
	 */
	public static RedisConnector to(RedisClusterClient client) {
		return new RedisConnector(client);
	}

	/** A cluster that was reached already is reported at once. */
	public void listen(Listener listener) {
		this.listener = listener;
		if (this.link != null) {
			listener.nodes(this.topology.get(), this.counting.get());
		}
	}

	/**
	 * Names of the nodes with counters; before a cluster was reached, one name for all.
	 */
	public Set<String> nodes() {
		return (this.link != null) ? this.counting.get() : Set.of(this.name);
	}

	/**
	 * Starts to connect and waits for the first connection.
	 * @param timeout how long to wait
	 * @return whether there is a connection
	 */
	public boolean start(Duration timeout) {
		this.loop.start();
		try {
			this.first.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return this.link != null;
	}

	/**
	 * Starts a connection that is not for counting.
	 * @param meanwhile the effect of a missing connection, for the log
	 */
	public boolean start(Duration timeout, String meanwhile) {
		this.meanwhile = meanwhile;
		return start(timeout);
	}

	/**
	 * Reads the topology of a cluster again: an old one may be why a node fails.
	 */
	public void refresh() {
		this.refresh.run();
	}

	String name() {
		return this.name;
	}

	/** Whether all counters of one call must have the same slot. */
	boolean isCluster() {
		return this.cluster;
	}

	@Nullable Link link() {
		return this.link;
	}

	/**
	 * The commands of the connection, {@code null} while there is none to a primary.
	 */
	@Nullable RedisClusterAsyncCommands<byte[], byte[]> commands() {
		Link link = this.link;
		return (link != null) ? link.commands() : null;
	}

	/**
	 * Opens another connection, for subscriptions. Lettuce reconnects and subscribes
	 * again by itself.
	 * @throws RuntimeException if this connector is closed: its client may be gone
	 */
	StatefulRedisPubSubConnection<String, String> subscriber() {
		if (this.closed) {
			throw RedisErrors.NOT_CONNECTED;
		}
		return this.subscriber.get();
	}

	/**
	 * Returns when the connection is closed, or after a second: a client that is shut
	 * down before that closes it once more and logs an error.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.loop.stop(Duration.ZERO);
		drop();
	}

	private Duration connect() {
		if (this.closed) {
			this.first.countDown();
			return Loop.UNTIL_WOKEN;
		}
		drop();
		try {
			publish(ready(this.connect.get(), RedisConnector::loadScripts));
			this.pauseMillis = FIRST_PAUSE_MILLIS;
			this.failures.worked(this.name);
			return Loop.UNTIL_WOKEN;
		}
		catch (RuntimeException ex) {
			this.failures.failed(this.name, rootCause(ex).getMessage(), this.meanwhile);
			this.first.countDown();
			this.pauseMillis = Math.min(2 * this.pauseMillis, LONGEST_PAUSE_MILLIS);
			return Duration.ofMillis(ThreadLocalRandom.current().nextLong(1, this.pauseMillis + 1));
		}
	}

	private void publish(Link link) {
		this.link = link;
		this.listener.nodes(this.topology.get(), this.counting.get());
		this.first.countDown();
		this.listener.connected(this.name);
		logger.debug("Connected to Redis {}, scripts loaded", this.name);
		if (this.closed) {
			drop();
		}
	}

	private void drop() {
		Link link = this.link;
		this.link = null;
		if (link != null) {
			link.close();
		}
	}

	private static CompletionStage<Void> loadScripts(Link link) {
		return CompletableFuture.allOf(LuaScript.ofCounters()
			.map((script) -> link.load(script).toCompletableFuture())
			.toArray(CompletableFuture<?>[]::new));
	}

	/** Closes a link that fails, such as one that is not allowed to load scripts. */
	private static <L extends Link> L ready(L link, Function<L, CompletionStage<Void>> prepare) {
		try {
			prepare.apply(link).toCompletableFuture().join();
			return link;
		}
		catch (RuntimeException ex) {
			link.close();
			throw ex;
		}
	}

	/** Since a failover the old primary may be one without slots. */
	private static boolean keepsCounters(RedisClusterNode node) {
		return node.is(RedisClusterNode.NodeFlag.UPSTREAM) && !node.hasNoSlots();
	}

	private static Set<String> names(Collection<RedisClusterNode> nodes, Predicate<RedisClusterNode> which) {
		return nodes.stream()
			.filter(which)
			.map(RedisClusterNode::getUri)
			.map(ClusterLink::name)
			.collect(Collectors.toUnmodifiableSet());
	}

	/** The innermost exception has the message of Redis, such as a wrong password. */
	private static Throwable rootCause(Throwable failure) {
		Throwable cause = failure;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	/**
	 * Observes connections and the nodes they lead to.
	 */
	public interface Listener {

		Listener NONE = new Listener() {
		};

		/**
		 * There is a new connection to a node.
		 */
		default void connected(String node) {
		}

		/**
		 * The nodes are known: at a connection, and when those of a cluster change.
		 * @param all names of all nodes
		 * @param keeping names of the nodes that keep counters
		 */
		default void nodes(Set<String> all, Set<String> keeping) {
		}

	}

}
