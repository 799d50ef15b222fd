package dev.ratelimit.autoconfigure;

import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.RedisURI;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Where a Redis is, without credentials: the same at every start with the same
 * configuration.
 *
 * @param node name of a server in meters and logs; behind Sentinels that of their primary
 * @param text all that tells two databases apart. Many Sentinels call their primary
 * {@code mymaster}, so they belong to it.
 */
record RedisAddress(String node, String text) {

	static RedisAddress of(LettuceConnectionFactory factory) {
		RedisClusterConfiguration cluster = factory.getClusterConfiguration();
		if (cluster != null) {
			return new RedisAddress("cluster", sorted(cluster.getClusterNodes().stream().map(RedisNode::asString)));
		}
		RedisSentinelConfiguration sentinel = factory.getSentinelConfiguration();
		if (sentinel != null && sentinel.getMaster() != null) {
			return behind(sentinel.getSentinels().stream().map(RedisNode::asString),
					String.valueOf(sentinel.getMaster().getName()), factory.getDatabase());
		}
		RedisSocketConfiguration socket = factory.getSocketConfiguration();
		return at((socket != null) ? socket.getSocket() : factory.getHostName() + ":" + factory.getPort(),
				factory.getDatabase());
	}

	static RedisAddress of(RedisURI uri) {
		if (uri.getSentinelMasterId() != null) {
			return behind(uri.getSentinels().stream().map((node) -> node.getHost() + ":" + node.getPort()),
					uri.getSentinelMasterId(), uri.getDatabase());
		}
		return at((uri.getSocket() != null) ? uri.getSocket() : uri.getHost() + ":" + uri.getPort(), uri.getDatabase());
	}

	private static RedisAddress behind(Stream<String> sentinels, String primary, int database) {
		return new RedisAddress(primary, primary + "/" + database + "," + sorted(sentinels));
	}

	private static RedisAddress at(String node, int database) {
		return new RedisAddress(node, node + "/" + database);
	}

	private static String sorted(Stream<String> nodes) {
		return nodes.sorted().collect(Collectors.joining(","));
	}

}
