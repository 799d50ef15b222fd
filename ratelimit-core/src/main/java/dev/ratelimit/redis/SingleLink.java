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
 * A connection to one Redis. It is asked for its role after every connect and used only
 * if it is a primary: the counts of a replica are old.
 */
final class SingleLink implements Link, RedisConnectionStateListener {

	private static final Logger logger = LoggerFactory.getLogger(SingleLink.class);

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final String name;

	private final Runnable reconnected;

	private final Runnable useless;

	private volatile boolean primary;

	/**
	 * Creates a link, which cannot be used before {@link #verify} has completed.
	 * @param reconnected called when the connection was lost and holds again
	 * @param useless called when the other end is a replica or does not answer, so that
	 * another connection is needed
	 */
	SingleLink(StatefulRedisConnection<byte[], byte[]> connection, String name, Runnable reconnected,
			Runnable useless) {
		this.connection = connection;
		this.name = name;
		this.reconnected = reconnected;
		this.useless = useless;
		connection.addListener(this);
	}

	/**
	 * Completes when the link can be used, exceptionally if the other end is a replica.
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
	public String node(Counter counter) {
		return this.name;
	}

	@Override
	public CompletionStage<Void> load(LuaScript script) {
		return this.connection.async().scriptLoad(script.text()).thenApply((sha) -> null);
	}

	@Override
	public void demoted() {
		if (this.primary) {
			this.primary = false;
			this.useless.run();
		}
	}

	@Override
	public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
		verify().whenComplete((done, failure) -> {
			if (failure == null) {
				this.reconnected.run();
			}
			else if (this.connection.isOpen()) {
				this.useless.run();
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

	/** If the ACL forbids ROLE, assume a primary. */
	private static void requireUnknowable(Throwable failure) {
		if (!(failure instanceof RedisCommandExecutionException)) {
			throw RedisErrors.translate(failure);
		}
		logger.warn("The role of the Redis server is unknown ({}); assuming a primary", failure.getMessage());
	}

}
