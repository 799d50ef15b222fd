package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Handoff;
import dev.ratelimit.background.Listeners;
import dev.ratelimit.background.Loop;

/**
 * Short messages to all instances of the fleet, over a connection of its own: a type and
 * a text, such as {@code forget rl:3g:{…}…}. Redis keeps no messages, so one can be lost;
 * listeners are called when that may have happened, and must not depend on a message.
 *
 * <p>
 * An idle subscription does not notice that its connection is dead. It therefore
 * subscribes again every 2 s: Redis must answer that.
 */
public final class RedisSignals implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisSignals.class);

	private static final int MAX_WAITING = 10_000;

	private static final Duration RESUBSCRIBE_PERIOD = Duration.ofSeconds(2);

	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

	private final RedisConnector connector;

	private final RedisSender sender;

	private final String channel;

	private final Map<String, Listener> listeners = new ConcurrentHashMap<>();

	private @Nullable Subscription subscription;

	private RedisSignals(RedisConnector connector, String channel) {
		this.connector = connector;
		this.sender = RedisSender.on(connector);
		this.channel = channel;
	}

	/**
	 * Creates signals without listeners.
	 * @param connector connects the subscription, and sends
	 * @param prefix first part of the channel's name
	 */
	public static RedisSignals on(RedisConnector connector, String prefix) {
		return new RedisSignals(connector, prefix + ":signals");
	}

	/**
	 * Where scripts publish signals, in the form of type, space and text.
	 */
	public String channel() {
		return this.channel;
	}

	public void listen(String type, Listener listener) {
		this.listeners.put(type, listener);
	}

	/**
	 * Starts to receive, as soon as there is a connection.
	 */
	public synchronized void start() {
		if (this.subscription == null) {
			this.subscription = new Subscription();
			this.subscription.loop.start();
		}
	}

	@Override
	public synchronized void close() {
		if (this.subscription != null) {
			this.subscription.closed = true;
			this.subscription.loop.end(CLOSE_TIMEOUT);
			this.subscription = null;
		}
	}

	/**
	 * Sends a signal to all instances, this one included.
	 * @return completes when it is sent or could not be, and never fails
	 */
	CompletionStage<Void> send(String type, String text) {
		byte[] message = RedisSender.bytes(type + ' ' + text);
		return this.sender
			.send(ClientSettings.COMMAND_TIMEOUT,
					(commands) -> commands.publish(RedisSender.bytes(this.channel), message))
			.handle((receivers, failure) -> {
				if (failure != null && failure != RedisErrors.NOT_CONNECTED) {
					logger.warn("Signal '{}' could not be sent ({}); other instances use old state for some seconds",
							type, Futures.cause(failure).toString());
				}
				return null;
			});
	}

	/**
	 * Listens to signals of one type, on a thread that it may block.
	 */
	public interface Listener {

		/**
		 * Signals arrived.
		 * @param texts their texts in order, all since the last call
		 */
		void received(List<String> texts);

		/**
		 * Signals may have been missed: the subscription is new, or there were too many.
		 */
		default void missed() {
		}

	}

	private record Signal(String type, String text) {

		static Signal parse(String message) {
			int space = message.indexOf(' ');
			return (space < 0) ? new Signal(message, "")
					: new Signal(message.substring(0, space), message.substring(space + 1));
		}

	}

	/**
	 * From one start to the next close.
	 */
	private final class Subscription extends RedisPubSubAdapter<String, String>
			implements RedisConnectionStateListener {

		private final Loop loop = new Loop("ratelimit-signals", this::turn, this::disconnect,
				new FailureLog(logger, "Cannot subscribe to signals yet ({})", "Subscribes to signals again").quiet());

		private final FailureLog refusals = new FailureLog(logger,
				"Redis refuses the subscription to signals ({}). This instance notices a reset or an edit made on "
						+ "another one some seconds late",
				"Redis accepts the subscription to signals again");

		private final Handoff<Signal> waiting = new Handoff<>(MAX_WAITING);

		private final AtomicBoolean missed = new AtomicBoolean();

		/** Whether there was no subscription until now. */
		private final AtomicBoolean fresh = new AtomicBoolean(true);

		private @Nullable StatefulRedisPubSubConnection<String, String> connection;

		private long subscribeAt = System.nanoTime();

		/** A listener may take so long that the client is shut down meanwhile. */
		private volatile boolean closed;

		private Duration turn() {
			deliver();
			long left = this.subscribeAt - System.nanoTime();
			if (left > 0) {
				return Duration.ofNanos(left);
			}
			if (this.closed) {
				return RESUBSCRIBE_PERIOD;
			}
			subscribe();
			this.subscribeAt = System.nanoTime() + RESUBSCRIBE_PERIOD.toNanos();
			return RESUBSCRIBE_PERIOD;
		}

		private void disconnect() {
			if (this.connection != null) {
				Closing.await(this.connection.closeAsync());
			}
		}

		@Override
		public void message(String channel, String message) {
			if (!this.waiting.offer(Signal.parse(message))) {
				this.missed.set(true);
			}
			this.loop.wake();
		}

		@Override
		public void subscribed(String channel, long count) {
			if (this.fresh.compareAndSet(true, false)) {
				this.missed.set(true);
				this.loop.wake();
			}
		}

		@Override
		public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
			this.fresh.set(true);
		}

		private void subscribe() {
			if (this.connection == null) {
				StatefulRedisPubSubConnection<String, String> made = RedisSignals.this.connector.subscriber();
				made.addListener((RedisConnectionStateListener) this);
				made.addListener((RedisPubSubListener<String, String>) this);
				this.connection = made;
			}
			this.connection.async().subscribe(RedisSignals.this.channel).whenComplete((done, failure) -> {
				if (failure instanceof RedisCommandExecutionException) {
					this.refusals.failed(failure.getMessage());
				}
				else if (failure == null) {
					this.refusals.worked();
				}
			});
		}

		private void deliver() {
			List<Signal> signals = this.waiting.take();
			if (this.missed.compareAndSet(true, false)) {
				Listeners.callAll(RedisSignals.this.listeners.values(), Listener::missed);
			}
			Map<String, List<String>> texts = new LinkedHashMap<>();
			signals.forEach(
					(signal) -> texts.computeIfAbsent(signal.type(), (type) -> new ArrayList<>()).add(signal.text()));
			texts.forEach((type, some) -> {
				Listener listener = RedisSignals.this.listeners.get(type);
				if (listener != null) {
					Listeners.call(listener, (one) -> one.received(some));
				}
			});
		}

	}

}
