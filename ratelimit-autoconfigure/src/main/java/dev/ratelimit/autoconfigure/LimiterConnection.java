package dev.ratelimit.autoconfigure;

import java.time.Duration;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.redis.RedisConnector;

/**
 * A connection of the limiter's own, to where the application's connection factory
 * points. The application's own is made for data: it waits for a minute, queues without
 * bound while disconnected and sends commands again after a reconnect. A check must do
 * none of these, or it would be late, be many, or count twice.
 */
final class LimiterConnection implements AutoCloseable {

	/** More calls than this waiting for Redis are not answered in time anyway. */
	private static final int MAX_WAITING = 10_000;

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private final LettuceConnectionFactory factory;

	private final RedisConnector connector;

	LimiterConnection(LettuceConnectionFactory application) {
		LettuceClientConfiguration client = client(application.getClientConfiguration(), application.isClusterAware());
		this.factory = copy(application, client);
		this.factory.afterPropertiesSet();
		this.factory.start();
		AbstractRedisClient nativeClient = this.factory.getRequiredNativeClient();
		this.connector = (nativeClient instanceof RedisClusterClient cluster) ? RedisConnector.to(cluster)
				: RedisConnector.to((RedisClient) nativeClient);
	}

	RedisConnector connector() {
		return this.connector;
	}

	@Override
	public void close() {
		this.connector.close();
		this.factory.destroy();
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

	private static LettuceClientConfiguration client(LettuceClientConfiguration application, boolean cluster) {
		LettuceClientConfiguration.LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder()
			.clientName("ratelimit")
			.commandTimeout(COMMAND_TIMEOUT)
			.clientOptions(options(application.getClientOptions().orElseGet(ClientOptions::create), cluster));
		application.getClientResources().ifPresent(builder::clientResources);
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

	private static ClientOptions options(ClientOptions application, boolean cluster) {
		if (cluster) {
			ClusterClientOptions.Builder builder = (application instanceof ClusterClientOptions clustered)
					? clustered.mutate() : ClusterClientOptions.builder(application);
			return limited(builder.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
				.enableAllAdaptiveRefreshTriggers()
				.enablePeriodicRefresh(Duration.ofSeconds(30))
				.build())).build();
		}
		return limited(application.mutate()).build();
	}

	private static <B extends ClientOptions.Builder> B limited(B builder) {
		builder.autoReconnect(true)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.replayFilter((command) -> true)
			.requestQueueSize(MAX_WAITING)
			.socketOptions(SocketOptions.builder().connectTimeout(Duration.ofSeconds(1)).keepAlive(true).build())
			.timeoutOptions(TimeoutOptions.enabled(COMMAND_TIMEOUT));
		return builder;
	}

}
