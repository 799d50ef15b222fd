package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.NodeListener;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.testing.RedisServers;

/**
 * One connection to each of the shared servers, for all tests of this JVM.
 */
public final class Connections {

	static final Deadlines DEADLINES = new Deadlines(ForkJoinPool.commonPool());

	/** As an application's limiter has them. */
	private static final ClientResources RESOURCES = ClientSettings.resources(ClientResources.create());

	private Connections() {
	}

	/**
	 * Counters on an emptied standalone Redis.
	 */
	static RedisCounters standalone() {
		Standalone.CONNECTION.sync().flushall();
		return RedisCounters.on(Standalone.CONNECTION);
	}

	/**
	 * Counters on an emptied cluster.
	 */
	static RedisCounters cluster() {
		RedisServers.cluster().flush();
		return RedisCounters.on(Cluster.CONNECTION);
	}

	/**
	 * The same counters as the limiter uses them: within a deadline and behind breakers.
	 */
	static Counters guarded(RedisCounters counters) {
		return guarded(counters, CircuitBreakerRegistry.ofDefaults(), List.of());
	}

	/**
	 * The same, with breakers and observers that the test looks at.
	 */
	static Counters guarded(RedisCounters counters, CircuitBreakerRegistry breakers, List<NodeListener> listeners) {
		return new GuardedCounters(counters, new Nodes(BreakerOptions.DEFAULTS, breakers, listeners), DEADLINES,
				Duration.ZERO);
	}

	static StatefulRedisConnection<byte[], byte[]> standaloneConnection() {
		return Standalone.CONNECTION;
	}

	static StatefulRedisClusterConnection<byte[], byte[]> clusterConnection() {
		return Cluster.CONNECTION;
	}

	/**
	 * A new connector to the standalone Redis, on a client that the tests share.
	 */
	public static RedisConnector standaloneConnector() {
		return RedisConnector.to(Standalone.CLIENT, "redis");
	}

	/**
	 * A new connector to the cluster, on a client that the tests share.
	 */
	public static RedisConnector clusterConnector() {
		return RedisConnector.to(Cluster.CLIENT);
	}

	static ClientResources resources() {
		return RESOURCES;
	}

	private static final class Standalone {

		static final RedisClient CLIENT = RedisClient.create(RESOURCES, RedisServers.standalone().uri());

		static {
			CLIENT.setOptions(ClientSettings.options(ClientOptions.create()));
		}

		static final StatefulRedisConnection<byte[], byte[]> CONNECTION = RedisClient
			.create(RedisServers.standalone().uri())
			.connect(ByteArrayCodec.INSTANCE);

	}

	private static final class Cluster {

		static final RedisClusterClient CLIENT = RedisClusterClient.create(RESOURCES, RedisServers.cluster().uris());

		static {
			CLIENT.setOptions(ClientSettings.clusterOptions(ClientOptions.create()));
		}

		static final StatefulRedisClusterConnection<byte[], byte[]> CONNECTION = RedisClusterClient
			.create(RedisServers.cluster().uris())
			.connect(ByteArrayCodec.INSTANCE);

	}

}
