package dev.ratelimit.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.ReplicaListener;
import dev.ratelimit.store.ReplicaState;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.store.SnapshotFile;
import dev.ratelimit.store.SnapshotWriter;

/**
 * Follows the store from the start of the application to its end. A start waits until
 * what the store has is in force, so that the first request finds it; with the store away
 * it goes on with the snapshot file, and without that with the configuration.
 */
final class StoreFollower implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** How long a start waits for the store to answer at all. */
	private static final Duration PATIENCE = Duration.ofSeconds(2);

	/** How long it waits for all that the store has: 100,000 records take seconds. */
	private static final Duration READING = Duration.ofSeconds(30);

	private final PolicyStore store;

	private final LivePolicies live;

	private final List<ReplicaListener> listeners;

	private final Snapshot start;

	private final Replica replica;

	private final @Nullable SnapshotWriter writer;

	private long applied;

	/**
	 * Begins with what the snapshot file has.
	 * @param file path of the snapshot file, empty for none
	 * @param listeners also hear what changes, after it is in force
	 */
	StoreFollower(PolicyStore store, LivePolicies live, String file, Fleet fleet, List<ReplicaListener> listeners) {
		this.store = store;
		this.live = live;
		this.listeners = List.copyOf(listeners);
		SnapshotFile snapshots = file.isBlank() ? null : new SnapshotFile(Path.of(file));
		this.start = (snapshots != null) ? snapshots.read() : Snapshot.NONE;
		if (this.start.instances() > 0) {
			fleet.seenAtLeast(this.start.instances());
		}
		this.applied = this.start.revision();
		this.replica = new Replica(store, this.start, new Events());
		this.writer = (snapshots != null) ? new SnapshotWriter(snapshots, this.replica, fleet::size) : null;
	}

	Replica replica() {
		return this.replica;
	}

	void start() {
		this.replica.start();
		try {
			long revision = this.store.changesSince(Long.MAX_VALUE - 1, 1)
				.toCompletableFuture()
				.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
				.revision();
			awaitApplied(revision);
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("The store of policies did not answer", ex);
			logger.warn("The store of policies is away: this instance starts with {} and follows the store as soon as "
					+ "it answers", known());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (this.writer != null) {
			this.writer.start();
		}
	}

	@Override
	public void close() {
		this.replica.close();
		if (this.writer != null) {
			this.writer.close();
		}
	}

	private String known() {
		return (this.start.revision() > 0) ? "its snapshot file, revision " + this.start.revision() + ","
				: "the configured policies alone";
	}

	private synchronized void awaitApplied(long revision) throws InterruptedException {
		long end = System.nanoTime() + READING.toNanos();
		while (this.applied < revision && this.replica.state().incident() == null && System.nanoTime() < end) {
			TimeUnit.MILLISECONDS.timedWait(this, 100);
		}
	}

	private synchronized void applied(long revision) {
		this.applied = Math.max(this.applied, revision);
		notifyAll();
	}

	/**
	 * What happens to the copy: first it comes into force, then others hear of it.
	 */
	private final class Events implements ReplicaListener {

		@Override
		public void changed(List<RecordVersion> versions) {
			StoreFollower.this.live.changed(versions);
			StoreFollower.this.listeners.forEach((listener) -> listener.changed(versions));
			applied(versions.stream().mapToLong(RecordVersion::revision).max().orElse(0));
		}

		@Override
		public void propagated(Duration time) {
			StoreFollower.this.listeners.forEach((listener) -> listener.propagated(time));
		}

		@Override
		public void stateChanged(ReplicaState state) {
			StoreFollower.this.listeners.forEach((listener) -> listener.stateChanged(state));
		}

	}

}
