package dev.ratelimit.autoconfigure;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.redis.ClientSettings;
import dev.ratelimit.redis.RedisConnector;

/**
 * A connection of the limiter's own, to where the application's connection factory
 * points, with what {@link ClientSettings} demands.
 */
final class LimiterConnection implements AutoCloseable {

	private final LettuceConnectionFactory factory;

	private final RedisAddress address;

	private final RedisConnector connector;

	private final ClientResources resources;

	private final @Nullable ClientResources ownResources;

	LimiterConnection(LettuceConnectionFactory application) {
		ClientResources given = application.getClientConfiguration().getClientResources().orElse(null);
		ClientResources threads = (given != null) ? given : ClientResources.create();
		this.ownResources = (given == null) ? threads : null;
		this.resources = ClientSettings.resources(threads);
		LettuceClientConfiguration client = client(application.getClientConfiguration(), application.isClusterAware(),
				this.resources);
		this.factory = copy(application, client);
		this.factory.afterPropertiesSet();
		this.factory.start();
		this.address = RedisAddress.of(application);
		this.connector = another();
	}

	/**
	 * One more connection to the same, for what checks must not wait behind. Whoever
	 * wants it starts and closes it.
	 */
	RedisConnector another() {
		AbstractRedisClient nativeClient = this.factory.getRequiredNativeClient();
		return (nativeClient instanceof RedisClusterClient cluster) ? RedisConnector.to(cluster)
				: RedisConnector.to((RedisClient) nativeClient, this.address.node());
	}

	RedisAddress address() {
		return this.address;
	}

	RedisConnector connector() {
		return this.connector;
	}

	/**
	 * Whether there are several nodes that share the counters.
	 */
	boolean isCluster() {
		return this.factory.isClusterAware();
	}

	/**
	 * Where a request goes on whose deadline has passed: the client's threads, which also
	 * go on with those that were answered.
	 */
	Executor executor() {
		return this.resources.eventExecutorGroup();
	}

	@Override
	public void close() {
		BoundedClose.run(this::disconnect);
	}

	private void disconnect() {
		this.connector.close();
		this.factory.destroy();
		// Only what is ours of them: the threads are the application's.
		this.resources.shutdown(0, 0, TimeUnit.MILLISECONDS);
		if (this.ownResources != null) {
			this.ownResources.shutdown();
		}
	}

	private static LettuceConnectionFactory copy(LettuceConnectionFactory application,
			LettuceClientConfiguration client) {
		RedisClusterConfiguration cluster = application.getClusterConfiguration();
		RedisSentinelConfiguration sentinel = application.getSentinelConfiguration();
		if (cluster != null) {
			return new LettuceConnectionFactory(cluster, client);
		}
		if (sentinel != null) {
			return new LettuceConnectionFactory(sentinel, client);
		}
		RedisSocketConfiguration socket = application.getSocketConfiguration();
		return (socket != null) ? new LettuceConnectionFactory(socket, client)
				: new LettuceConnectionFactory(application.getStandaloneConfiguration(), client);
	}

	private static LettuceClientConfiguration client(LettuceClientConfiguration application, boolean cluster,
			ClientResources resources) {
		ClientOptions options = application.getClientOptions().orElseGet(ClientOptions::create);
		LettuceClientConfiguration.LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder()
			.clientName("ratelimit")
			.commandTimeout(ClientSettings.COMMAND_TIMEOUT)
			.clientResources(resources)
			.clientOptions(cluster ? ClientSettings.clusterOptions(options) : ClientSettings.options(options));
		application.getRedisCredentialsProviderFactory().ifPresent(builder::redisCredentialsProviderFactory);
		if (application.isUseSsl()) {
			LettuceClientConfiguration.LettuceSslClientConfigurationBuilder ssl = builder.useSsl();
			ssl.verifyPeer(application.getVerifyMode());
			if (application.isStartTls()) {
				ssl.startTls();
			}
		}
		return builder.build();
	}

}
