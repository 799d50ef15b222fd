package dev.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;

/**
 * Settings of the client for a limiter. By default Lettuce waits for a minute, queues
 * without bound while disconnected and sends commands again after a reconnect. A check
 * that did so would be late, pile up or count twice.
 */
public final class ClientSettings {

	/**
	 * Time after which a silent connection is closed and all its commands fail. Commands
	 * have no timers in the client: checks have their own deadline.
	 */
	public static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);

	/** Twice the checks that may wait for a node: timed-out calls are still queued. */
	private static final int MAX_QUEUED = 20_000;

	private ClientSettings() {
	}

	/**
	 * The application's resources with early, randomized reconnects. Dead connections are
	 * closed and nothing is sent twice.
	 */
	public static ClientResources resources(ClientResources application) {
		NettyCustomizer customizer = application.nettyCustomizer();
		return application.mutate()
			// Calls of many checks are metered per check; Lettuce would time each command
			// twice.
			.commandLatencyRecorder(CommandLatencyRecorder.disabled())
			.reconnectDelay(Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(1), 100, TimeUnit.MILLISECONDS))
			.nettyCustomizer(new NettyCustomizer() {

				@Override
				public void afterBootstrapInitialized(Bootstrap bootstrap) {
					customizer.afterBootstrapInitialized(bootstrap);
				}

				@Override
				public void afterChannelInitialized(Channel channel) {
					customizer.afterChannelInitialized(channel);
					channel.pipeline()
						.addFirst(new AnswerWatchdog(COMMAND_TIMEOUT.toNanos()))
						.addLast(new LostCommands());
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
	 * For a cluster. The topology is read again as soon as a node redirects or cannot be
	 * reached.
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
