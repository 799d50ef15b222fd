package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;

import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.redis.ClientSettings;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.store.redis.RedisPolicyStore;

/**
 * The way to the Redis that keeps policies: that of the counters, which is not closed
 * here, or one of its own.
 */
final class RedisStoreConnection implements AutoCloseable {

	/** How long a start waits for Redis before it goes on without. */
	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	private static final String MEANWHILE = "until it can, policies stay as this instance knows them and none can be "
			+ "changed";

	private final RedisPolicyStore store;

	private final String name;

	private final Runnable close;

	private RedisStoreConnection(RedisPolicyStore store, String name, Runnable close) {
		this.store = store;
		this.name = name;
		this.close = close;
	}

	/**
	 * Over the connection of the counters.
	 */
	static RedisStoreConnection sharing(LimiterConnection connection, RedisSignals signals, Prefixes prefixes) {
		RedisPolicyStore store = new RedisPolicyStore(RedisSender.on(connection.connector()), signals,
				connection.another(), prefixes.keys(), prefixes.audit());
		return new RedisStoreConnection(store, connection.address().text(), () -> {
		});
	}

	/**
	 * Over a connection that is for policies alone.
	 */
	static RedisStoreConnection owning(LimiterConnection connection, Prefixes prefixes) {
		return started(connection.connector(), connection.another(), connection.address().text(), prefixes,
				connection::close);
	}

	/**
	 * To another Redis.
	 */
	static RedisStoreConnection to(String url, Prefixes prefixes) {
		RedisURI uri = PolicyMapper
			.checked("Set 'ratelimit.policies-store.redis.url' to a URL such as redis://host:6379.", () -> uri(url));
		ClientResources threads = ClientResources.create();
		ClientResources resources = ClientSettings.resources(threads);
		RedisClient client = RedisClient.create(resources, uri);
		client.setOptions(ClientSettings.options(ClientOptions.create()));
		RedisAddress address = RedisAddress.of(uri);
		RedisConnector connector = RedisConnector.to(client, address.node());
		return started(connector, RedisConnector.to(client, address.node()), address.text(), prefixes,
				() -> BoundedClose.run(() -> {
					connector.close();
					client.shutdown(0, 1, TimeUnit.SECONDS);
					resources.shutdown(0, 0, TimeUnit.MILLISECONDS);
					threads.shutdown();
				}));
	}

	RedisPolicyStore store() {
		return this.store;
	}

	/** Address of the Redis. */
	String name() {
		return this.name;
	}

	@Override
	public void close() {
		this.store.close();
		this.close.run();
	}

	private static RedisStoreConnection started(RedisConnector connector, RedisConnector reader, String name,
			Prefixes prefixes, Runnable close) {
		RedisSignals signals = RedisSignals.on(connector, prefixes.keys());
		RedisPolicyStore store = new RedisPolicyStore(RedisSender.on(connector), signals, reader, prefixes.keys(),
				prefixes.audit());
		connector.start(CONNECT_TIMEOUT, MEANWHILE);
		signals.start();
		return new RedisStoreConnection(store, name, () -> {
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

	/**
	 * First parts of keys.
	 *
	 * @param audit of the key of the audit trail, empty for the same
	 */
	record Prefixes(String keys, String audit) {

		Prefixes {
			audit = audit.isEmpty() ? keys : audit;
			if (!CounterKeys.isPrefix(audit)) {
				throw new IllegalArgumentException("'ratelimit.audit.key-prefix' is not valid");
			}
		}

	}

}
