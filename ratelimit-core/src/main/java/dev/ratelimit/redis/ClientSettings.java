package dev.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;

/**
 * What a limiter must set on a client. Lettuce is made for data: it waits for a minute,
 * queues without bound while disconnected and sends commands again after a reconnect. A
 * check must do none of these, or it would be late, be many, or count twice.
 */
public final class ClientSettings {

	/**
	 * After this a connection is closed that does not answer, and with it everything that
	 * waits on it fails. No single command has a timer in the client: checks have their
	 * own deadline.
	 */
	public static final Duration PATIENCE = Duration.ofSeconds(2);

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);

	/**
	 * Twice what may wait for a node: calls whose deadline has passed are still in it.
	 */
	private static final int MAX_QUEUED = 20_000;

	private ClientSettings() {
	}

	/**
	 * The same threads, but reconnecting soon, each client at another time, closing
	 * connections that are dead and sending nothing twice.
	 */
	public static ClientResources resources(ClientResources application) {
		NettyCustomizer customizer = application.nettyCustomizer();
		return application.mutate()
			.reconnectDelay(Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(1), 100, TimeUnit.MILLISECONDS))
			.nettyCustomizer(new NettyCustomizer() {

				@Override
				public void afterBootstrapInitialized(Bootstrap bootstrap) {
					customizer.afterBootstrapInitialized(bootstrap);
				}

				@Override
				public void afterChannelInitialized(Channel channel) {
					customizer.afterChannelInitialized(channel);
					channel.pipeline().addFirst(new AnswerWatchdog(PATIENCE.toNanos())).addLast(new LostCommands());
				}

			})
			.build();
	}

	/**
	 * For a single Redis, or one behind Sentinels.
	 */
	public static ClientOptions options(ClientOptions application) {
		return limited(application.mutate()).build();
	}

	/**
	 * For a cluster. What is known of it is looked up again as soon as a node points
	 * elsewhere or cannot be reached.
	 */
	public static ClusterClientOptions clusterOptions(ClientOptions application) {
		ClusterClientOptions.Builder builder = (application instanceof ClusterClientOptions clustered)
				? clustered.mutate() : ClusterClientOptions.builder(application);
		return limited(builder)
			.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
				.enableAllAdaptiveRefreshTriggers()
				.adaptiveRefreshTriggersTimeout(Duration.ofMillis(500))
				.refreshTriggersReconnectAttempts(1)
				.enablePeriodicRefresh(Duration.ofSeconds(30))
				.build())
			.build();
	}

	private static <B extends ClientOptions.Builder> B limited(B builder) {
		builder.autoReconnect(true)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.replayFilter((command) -> true)
			.requestQueueSize(MAX_QUEUED)
			.socketOptions(SocketOptions.builder().connectTimeout(CONNECT_TIMEOUT).keepAlive(true).build())
			.timeoutOptions(TimeoutOptions.create());
		return builder;
	}

}
