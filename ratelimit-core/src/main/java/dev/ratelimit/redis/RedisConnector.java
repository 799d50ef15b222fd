package dev.ratelimit.redis;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
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

import dev.ratelimit.Algorithm;

/**
 * Makes the limiter's own connection. An application starts whether Redis is there or
 * not: connecting is tried in the background until it succeeds, from then on Lettuce
 * reconnects by itself, and only a connection that leads to a replica is made anew here.
 * Meanwhile calls fail at once rather than wait.
 */
public final class RedisConnector implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisConnector.class);

	private static final long LONGEST_PAUSE_MILLIS = 1_000;

	private final String name;

	private final Supplier<Link> connect;

	private final Supplier<StatefulRedisPubSubConnection<String, String>> subscriber;

	private final Runnable refresh;

	private final CountDownLatch first = new CountDownLatch(1);

	private final Semaphore wanted = new Semaphore(1);

	private volatile String meanwhile = "policies use their failure mode until it can";

	private volatile boolean closed;

	private volatile Listener listener = Listener.NONE;

	private volatile @Nullable Link link;

	private RedisConnector(RedisClient client, String name) {
		this.name = name;
		this.subscriber = client::connectPubSub;
		this.connect = () -> verified(
				new SingleLink(client.connect(ByteArrayCodec.INSTANCE), name, new SingleLink.Events() {

					@Override
					public void connected(String node) {
						RedisConnector.this.listener.connected(node);
					}

					@Override
					public void useless() {
						RedisConnector.this.wanted.release();
					}

				}));
		this.refresh = () -> {
		};
	}

	private RedisConnector(RedisClusterClient client) {
		this.name = "cluster";
		this.subscriber = client::connectPubSub;
		this.connect = () -> {
			ClusterLink link = new ClusterLink(client.connect(ByteArrayCodec.INSTANCE));
			this.listener.nodes(nodes(client));
			return link;
		};
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
			.filter(ClusterTopologyChangedEvent.class::isInstance)
			.subscribe((event) -> this.listener.nodes(nodes(client)));
	}

	/**
	 * To a single Redis or, if the client knows Sentinels, to the primary they name.
	 * @param node what to call it
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

	/**
	 * Says who is to hear about connections.
	 */
	public void listen(Listener listener) {
		this.listener = listener;
	}

	/**
	 * Starts to connect and waits a little, so that an application whose Redis is there
	 * starts with it.
	 * @param patience how long to wait for the first connection
	 * @return whether it holds
	 */
	public boolean start(Duration patience) {
		Thread thread = new Thread(this::run, "ratelimit-redis-connect");
		thread.setDaemon(true);
		thread.start();
		try {
			this.first.await(patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return this.link != null;
	}

	/**
	 * The same for a connection that is not for counting.
	 * @param meanwhile what it means if Redis cannot be used, for the log
	 */
	public boolean start(Duration patience, String meanwhile) {
		this.meanwhile = meanwhile;
		return start(patience);
	}

	/**
	 * Looks who keeps what now, in a cluster; what is known may be why a node fails.
	 */
	public void refresh() {
		this.refresh.run();
	}

	String name() {
		return this.name;
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
	 * Connects once more, to subscribe by; Lettuce reconnects and subscribes again by
	 * itself.
	 */
	StatefulRedisPubSubConnection<String, String> subscriber() {
		return this.subscriber.get();
	}

	/**
	 * Returns when the connection is closed, or after a second: a client that is shut
	 * down before that would close it once more, and complain.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.wanted.release();
		drop();
	}

	private void run() {
		while (awaitWanted()) {
			drop();
			connect();
		}
	}

	private void connect() {
		long pause = 50;
		boolean warned = false;
		while (!this.closed) {
			try {
				publish(loaded(this.connect.get()));
				return;
			}
			catch (RuntimeException ex) {
				if (!warned) {
					warned = true;
					logger.warn("Redis {} cannot be used ({}); {}", this.name, rootCause(ex).getMessage(),
							this.meanwhile);
				}
				this.first.countDown();
			}
			pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
			pause(ThreadLocalRandom.current().nextLong(1, pause + 1));
		}
	}

	private void publish(Link link) {
		this.link = link;
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

	/** A connection that may not load scripts is of no use, and must not stay behind. */
	private static Link loaded(Link link) {
		try {
			CompletableFuture<?>[] loads = new CompletableFuture<?>[Algorithm.values().length];
			for (Algorithm algorithm : Algorithm.values()) {
				loads[algorithm.ordinal()] = link.load(LuaScript.of(algorithm)).toCompletableFuture();
			}
			CompletableFuture.allOf(loads).join();
			return link;
		}
		catch (RuntimeException ex) {
			link.close();
			throw ex;
		}
	}

	private static Link verified(SingleLink link) {
		try {
			link.verify().toCompletableFuture().join();
			return link;
		}
		catch (RuntimeException ex) {
			link.close();
			throw ex;
		}
	}

	private static Set<String> nodes(RedisClusterClient client) {
		return client.getPartitions()
			.stream()
			.map(RedisClusterNode::getUri)
			.map(ClusterLink::name)
			.collect(Collectors.toUnmodifiableSet());
	}

	/** What Redis itself said, such as that the password is wrong, is at the bottom. */
	private static Throwable rootCause(Throwable failure) {
		Throwable cause = failure;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	private boolean awaitWanted() {
		try {
			this.wanted.acquire();
			this.wanted.drainPermits();
			return !this.closed;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/**
	 * Closing ends it early, so does the wish to connect, which is what is being done.
	 */
	private void pause(long millis) {
		try {
			if (this.wanted.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
				logger.trace("Pause cut short");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			this.closed = true;
		}
	}

	/**
	 * Hears about connections and the nodes they lead to.
	 */
	public interface Listener {

		/** Hears nothing. */
		Listener NONE = new Listener() {
		};

		/**
		 * There is a new connection to a node.
		 */
		default void connected(String node) {
		}

		/**
		 * The cluster consists of these nodes.
		 */
		default void nodes(Set<String> nodes) {
		}

	}

}
