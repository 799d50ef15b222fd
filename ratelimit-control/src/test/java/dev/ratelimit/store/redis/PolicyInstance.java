package dev.ratelimit.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;

import dev.ratelimit.redis.ClientSettings;
import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.ReplicaListener;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisServer;

/**
 * What an instance of an application has of the control plane: a store and its copy.
 */
final class PolicyInstance implements ReplicaListener, AutoCloseable {

	private static final ClientResources RESOURCES = ClientSettings.resources(ClientResources.create());

	final Queue<RecordVersion> changed = new ConcurrentLinkedQueue<>();

	/**
	 * How long each write took to arrive, without the pauses of this machine meanwhile.
	 */
	final Queue<Duration> propagated = new ConcurrentLinkedQueue<>();

	final RedisPolicyStore store;

	final Replica replica;

	private final RedisClient client;

	private final RedisConnector connector;

	private final RedisSignals signals;

	PolicyInstance(RedisURI server, Snapshot start, UnaryOperator<PolicyStore> view) {
		this(server, start, view, "rl");
	}

	PolicyInstance(RedisURI server, Snapshot start, UnaryOperator<PolicyStore> view, String auditPrefix) {
		this.client = RedisClient.create(RESOURCES, server);
		this.client.setOptions(ClientSettings.options(ClientOptions.create()));
		this.connector = RedisConnector.to(this.client, "redis");
		this.signals = RedisSignals.on(this.connector, "rl");
		this.connector.start(Duration.ofSeconds(10));
		this.store = new RedisPolicyStore(RedisSender.on(this.connector), this.signals,
				RedisConnector.to(this.client, "redis"), "rl", auditPrefix);
		this.signals.start();
		this.replica = new Replica(view.apply(this.store), start, this, System::nanoTime);
		this.replica.start();
	}

	PolicyInstance(RedisServer server) {
		this(server.uri(), Snapshot.NONE, UnaryOperator.identity());
	}

	static RecordKey override(int number) {
		return new RecordKey(Kind.OVERRIDE, "orders/tenant/" + number);
	}

	@Override
	public void changed(List<RecordVersion> versions) {
		this.changed.addAll(versions);
	}

	@Override
	public void propagated(Duration time) {
		long end = Pauses.now();
		this.propagated.add(time.minus(Pauses.lost(end - time.toNanos(), end)));
	}

	RecordVersion write(RecordKey key, String body) {
		return this.store.write(List.of(new Edit(key, body, null)), Seen.NOTHING, "ann", "because")
			.toCompletableFuture()
			.orTimeout(5, TimeUnit.SECONDS)
			.join()
			.get(0);
	}

	/** What this instance goes by, {@code null} for nothing. */
	String body(RecordKey key) {
		RecordVersion version = this.replica.get(key);
		return (version != null) ? version.body() : null;
	}

	/** Whether the version, and all that the store wrote before it, is in this copy. */
	boolean has(RecordVersion version) {
		// The copy's records change one by one, its revision after all of them.
		return this.replica.state().revision() >= version.revision() && version.equals(this.replica.get(version.key()));
	}

	@Override
	public void close() {
		this.replica.close();
		this.store.close();
		this.signals.close();
		this.connector.close();
		this.client.shutdownAsync();
	}

}
