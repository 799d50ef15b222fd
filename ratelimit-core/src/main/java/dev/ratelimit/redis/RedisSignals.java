package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Short messages to all instances of the fleet, over a connection of its own: a type and
 * a text, such as {@code forget rl:2g:{…}…}. Redis keeps no message, so one can be lost;
 * whoever listens is told when that may have been, and must be right without it after a
 * while.
 *
 * <p>
 * The connection says nothing as long as nobody signals, so it is made to say something
 * once in a while by subscribing again: one that is dead is then found and made anew.
 */
public final class RedisSignals implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisSignals.class);

	private static final int MAX_WAITING = 10_000;

	private static final long SIGN_OF_LIFE_MILLIS = 2_000;

	private static final long RETRY_MILLIS = 250;

	private static final long GOODBYE_MILLIS = 1_000;

	private static final Signal NOTHING = new Signal("", "");

	private final RedisConnector connector;

	private final String channel;

	private final Map<String, Listener> listeners = new ConcurrentHashMap<>();

	private @Nullable Subscription subscription;

	private RedisSignals(RedisConnector connector, String channel) {
		this.connector = connector;
		this.channel = channel;
	}

	/**
	 * Signals that nobody listens to yet.
	 * @param connector where to connect to, and the connection to send by
	 * @param prefix first part of the channel's name
	 */
	public static RedisSignals on(RedisConnector connector, String prefix) {
		return new RedisSignals(connector, prefix + ":signals");
	}

	/**
	 * Where scripts publish signals, in the form of type, space and text.
	 */
	String channel() {
		return this.channel;
	}

	/**
	 * Says who hears signals of a type.
	 */
	public void listen(String type, Listener listener) {
		this.listeners.put(type, listener);
	}

	/**
	 * Receives from now on, as soon as there is a connection.
	 */
	public synchronized void start() {
		if (this.subscription == null) {
			this.subscription = new Subscription();
			this.subscription.thread.start();
		}
	}

	@Override
	public synchronized void close() {
		if (this.subscription != null) {
			this.subscription.end();
			this.subscription = null;
		}
	}

	/**
	 * Sends a signal to all instances, this one included.
	 * @return completes when it is sent or could not be, and never fails
	 */
	CompletionStage<Void> send(String type, String text) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connector.commands();
		if (commands == null) {
			return CompletableFuture.completedStage(null);
		}
		try {
			return commands.publish(bytes(this.channel), bytes(type + ' ' + text)).handle((receivers, failure) -> {
				if (failure != null) {
					logger.warn("A signal '{}' could not be sent ({}); instances go by what they know for some seconds",
							type, failure.getMessage());
				}
				return null;
			});
		}
		catch (RuntimeException ex) {
			logger.debug("A signal '{}' could not be sent", type, ex);
			return CompletableFuture.completedStage(null);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Hears signals of one type, on a thread where it may take its time.
	 */
	public interface Listener {

		/**
		 * Signals have come.
		 * @param texts what they say, in their order; all that came since the last call
		 */
		void received(List<String> texts);

		/**
		 * The subscription begins, anew or for the first time, or there were too many:
		 * some signals may have been missed.
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
			implements Runnable, RedisConnectionStateListener {

		private final Thread thread = new Thread(this, "ratelimit-signals");

		private final BlockingQueue<Signal> waiting = new ArrayBlockingQueue<>(MAX_WAITING);

		private final AtomicBoolean missed = new AtomicBoolean();

		/** Whether there was no subscription until now. */
		private final AtomicBoolean fresh = new AtomicBoolean(true);

		private @Nullable StatefulRedisPubSubConnection<String, String> connection;

		private volatile boolean ended;

		private boolean warned;

		Subscription() {
			this.thread.setDaemon(true);
		}

		void end() {
			this.ended = true;
			this.waiting.offer(NOTHING);
			try {
				this.thread.join(GOODBYE_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		@Override
		public void run() {
			while (!this.ended) {
				subscribe();
				deliver((this.connection != null) ? SIGN_OF_LIFE_MILLIS : RETRY_MILLIS);
			}
			disconnect();
		}

		private void disconnect() {
			try {
				if (this.connection != null) {
					Closing.await(this.connection.closeAsync());
				}
			}
			catch (RuntimeException ex) {
				logger.debug("The connection for signals did not close in order", ex);
			}
		}

		@Override
		public void message(String channel, String message) {
			if (!this.waiting.offer(Signal.parse(message))) {
				this.missed.set(true);
			}
		}

		@Override
		public void subscribed(String channel, long count) {
			if (this.fresh.compareAndSet(true, false)) {
				this.missed.set(true);
				this.waiting.offer(NOTHING);
			}
		}

		@Override
		public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
			this.fresh.set(true);
		}

		private void subscribe() {
			try {
				if (this.connection == null) {
					StatefulRedisPubSubConnection<String, String> made = RedisSignals.this.connector.subscriber();
					made.addListener((RedisConnectionStateListener) this);
					made.addListener((RedisPubSubListener<String, String>) this);
					this.connection = made;
				}
				this.connection.async().subscribe(RedisSignals.this.channel).whenComplete((done, failure) -> {
					if (failure instanceof RedisCommandExecutionException && !this.warned) {
						this.warned = true;
						logger.warn("Signals of other instances cannot be received ({}); a reset or an edit made "
								+ "there is noticed here some seconds late", failure.getMessage());
					}
				});
			}
			catch (RuntimeException ex) {
				logger.debug("Cannot subscribe to signals yet", ex);
			}
		}

		/** Hands out what comes, until it is time for a sign of life. */
		private void deliver(long millis) {
			long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
			try {
				for (long left = end - System.nanoTime(); left > 0 && !this.ended; left = end - System.nanoTime()) {
					Signal first = this.waiting.poll(left, TimeUnit.NANOSECONDS);
					if (first != null) {
						deliver(first);
					}
				}
			}
			catch (InterruptedException ex) {
				this.ended = true;
			}
		}

		private void deliver(Signal first) {
			List<Signal> signals = new ArrayList<>(List.of(first));
			this.waiting.drainTo(signals);
			if (this.missed.compareAndSet(true, false)) {
				RedisSignals.this.listeners.forEach((type, listener) -> guarded(type, listener::missed));
			}
			Map<String, List<String>> texts = new LinkedHashMap<>();
			signals.forEach(
					(signal) -> texts.computeIfAbsent(signal.type(), (type) -> new ArrayList<>()).add(signal.text()));
			texts.forEach((type, some) -> {
				Listener listener = RedisSignals.this.listeners.get(type);
				if (listener != null) {
					guarded(type, () -> listener.received(some));
				}
			});
		}

		private void guarded(String type, Runnable call) {
			try {
				call.run();
			}
			catch (RuntimeException ex) {
				logger.warn("A listener of signals '{}' failed", type, ex);
			}
		}

	}

}
