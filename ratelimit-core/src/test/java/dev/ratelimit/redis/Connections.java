package dev.ratelimit.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;

import dev.ratelimit.testing.RedisServers;

/**
 * One connection to each of the shared servers, for all tests of this JVM.
 */
final class Connections {

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

	static StatefulRedisConnection<byte[], byte[]> standaloneConnection() {
		return Standalone.CONNECTION;
	}

	static StatefulRedisClusterConnection<byte[], byte[]> clusterConnection() {
		return Cluster.CONNECTION;
	}

	private static final class Standalone {

		static final StatefulRedisConnection<byte[], byte[]> CONNECTION = RedisClient
			.create(RedisServers.standalone().uri())
			.connect(ByteArrayCodec.INSTANCE);

	}

	private static final class Cluster {

		static final StatefulRedisClusterConnection<byte[], byte[]> CONNECTION = RedisClusterClient
			.create(RedisServers.cluster().uris())
			.connect(ByteArrayCodec.INSTANCE);

	}

}
