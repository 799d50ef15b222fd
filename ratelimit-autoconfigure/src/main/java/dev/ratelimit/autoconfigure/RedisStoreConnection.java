package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;

import dev.ratelimit.redis.ClientSettings;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisFleetSums;
import dev.ratelimit.redis.RedisPolicyStore;
import dev.ratelimit.redis.RedisSignals;

/**
 * The way to the Redis that keeps policies: that of the counters, which is not closed
 * here, or one of its own.
 */
final class RedisStoreConnection implements AutoCloseable {

	/** How long a start waits for Redis before it goes on without. */
	private static final Duration PATIENCE = Duration.ofSeconds(2);

	private static final String MEANWHILE = "until it can, policies stay as this instance knows them and none can be "
			+ "changed";

	private final RedisPolicyStore store;

	private final RedisFleetSums sums;

	private final Runnable close;

	private RedisStoreConnection(RedisPolicyStore store, RedisFleetSums sums, Runnable close) {
		this.store = store;
		this.sums = sums;
		this.close = close;
	}

	/**
	 * Over the connection of the counters.
	 */
	static RedisStoreConnection sharing(LimiterConnection connection, RedisSignals signals, String prefix) {
		return new RedisStoreConnection(RedisPolicyStore.on(connection.connector(), signals, prefix),
				RedisFleetSums.on(connection.connector(), prefix), () -> {
				});
	}

	/**
	 * Over a connection that is for policies alone.
	 */
	static RedisStoreConnection owning(LimiterConnection connection, String prefix) {
		return started(connection.connector(), prefix, connection::close);
	}

	/**
	 * To another Redis.
	 */
	static RedisStoreConnection to(String url, String prefix) {
		RedisURI uri = PolicyMapper
			.checked("Set 'ratelimit.policies-store.redis.url' to something like redis://host:6379.", () -> uri(url));
		ClientResources threads = ClientResources.create();
		ClientResources resources = ClientSettings.resources(threads);
		RedisClient client = RedisClient.create(resources, uri);
		client.setOptions(ClientSettings.options(ClientOptions.create()));
		RedisConnector connector = RedisConnector.to(client, uri.getHost() + ":" + uri.getPort());
		return started(connector, prefix, () -> BoundedClose.run(() -> {
			connector.close();
			client.shutdown(0, 1, TimeUnit.SECONDS);
			resources.shutdown(0, 0, TimeUnit.MILLISECONDS);
			threads.shutdown();
		}));
	}

	RedisPolicyStore store() {
		return this.store;
	}

	RedisFleetSums sums() {
		return this.sums;
	}

	@Override
	public void close() {
		this.close.run();
	}

	private static RedisStoreConnection started(RedisConnector connector, String prefix, Runnable close) {
		RedisSignals signals = RedisSignals.on(connector, prefix);
		RedisPolicyStore store = RedisPolicyStore.on(connector, signals, prefix);
		connector.start(PATIENCE, MEANWHILE);
		signals.start();
		return new RedisStoreConnection(store, RedisFleetSums.on(connector, prefix), () -> {
			signals.close();
			close.run();
		});
	}

	/** What the parser says may have the password in it. */
	private static RedisURI uri(String url) {
		try {
			return RedisURI.create(url);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("the URL of the store of policies cannot be read", ex);
		}
	}

}
