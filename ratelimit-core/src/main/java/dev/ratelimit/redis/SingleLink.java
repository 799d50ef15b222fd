package dev.ratelimit.redis;

import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.UnansweredException;

/**
 * A connection to one Redis, which is asked for its role whenever the connection is made
 * anew, and not used until it has said that it is a primary: a replica would refuse by
 * numbers that are behind.
 */
final class SingleLink implements Link, RedisConnectionStateListener {

	private static final Logger logger = LoggerFactory.getLogger(SingleLink.class);

	private static final int THE_ONLY_SLOT = 0;

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final String name;

	private final Events events;

	private volatile boolean primary;

	SingleLink(StatefulRedisConnection<byte[], byte[]> connection, String name, Events events) {
		this.connection = connection;
		this.name = name;
		this.events = events;
		connection.addListener(this);
	}

	/**
	 * Completes when the link can be used, exceptionally if it cannot because there is a
	 * replica at the other end.
	 */
	CompletionStage<Void> verify() {
		return this.connection.async().role().handle((role, failure) -> {
			if (failure == null && !isPrimary(role)) {
				throw new UnansweredException(Decision.Reason.READ_ONLY,
						"it is a replica, and only a primary can be used");
			}
			if (failure != null) {
				requireUnknowable(failure);
			}
			this.primary = true;
			return null;
		});
	}

	@Override
	public @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands() {
		return this.primary ? this.connection.async() : null;
	}

	@Override
	public @Nullable StatefulRedisConnection<byte[], byte[]> connection(Counter counter) {
		return this.primary ? this.connection : null;
	}

	@Override
	public int slot(Counter counter) {
		return THE_ONLY_SLOT;
	}

	@Override
	public String node(Counter counter) {
		return this.name;
	}

	@Override
	public CompletionStage<Void> load(LuaScript script) {
		return this.connection.async().scriptLoad(script.text()).thenApply((sha) -> null);
	}

	@Override
	public CompletionStage<Void> load(LuaScript script, Counter counter) {
		return load(script);
	}

	@Override
	public void demoted() {
		if (this.primary) {
			this.primary = false;
			this.events.useless();
		}
	}

	@Override
	public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
		verify().whenComplete((done, failure) -> {
			if (failure == null) {
				this.events.connected(this.name);
			}
			else if (this.connection.isOpen()) {
				this.events.useless();
			}
		});
	}

	@Override
	public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
		this.primary = false;
	}

	@Override
	public void close() {
		this.connection.removeListener(this);
		this.primary = false;
		Closing.await(this.connection.closeAsync());
	}

	private static boolean isPrimary(List<Object> role) {
		return role.get(0) instanceof byte[] text && text.length > 0 && text[0] == 'm';
	}

	/** Who may not ask for the role is taken at their word. */
	private static void requireUnknowable(Throwable failure) {
		if (!(failure instanceof RedisCommandExecutionException)) {
			throw Failures.translate(failure);
		}
		logger.warn("Redis does not say whether it is a primary ({}); it is taken for one", failure.getMessage());
	}

	/**
	 * What becomes of the link.
	 */
	interface Events {

		Events NONE = new Events() {
		};

		/** The connection was lost and holds again. */
		default void connected(String node) {
		}

		/** There is a replica, or nobody, at the other end: connect anew. */
		default void useless() {
		}

	}

}
