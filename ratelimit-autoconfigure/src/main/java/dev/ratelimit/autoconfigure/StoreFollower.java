package dev.ratelimit.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.Listeners;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.store.DeletionTrimmer;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.ReplicaListener;
import dev.ratelimit.store.ReplicaState;
import dev.ratelimit.store.Snapshot;
import dev.ratelimit.store.SnapshotFile;
import dev.ratelimit.store.SnapshotWriter;

/**
 * Follows the store from the start of the application to its end. Its bean waits a moment
 * for the store, so that the first request finds the policies in force; the ports are
 * closed until then. {@link StoreStart} waits for a store that takes longer.
 */
final class StoreFollower implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** Short: with the ports closed, a liveness probe fails. */
	private static final Duration FIRST_READ_TIMEOUT = Duration.ofSeconds(2);

	private final LivePolicies live;

	private final List<ReplicaListener> listeners;

	private final Snapshot start;

	private final Replica replica;

	private final @Nullable SnapshotWriter writer;

	private final DeletionTrimmer trimmer;

	/**
	 * Begins with what the snapshot file has.
	 * @param file path of the snapshot file, {@code null} for none
	 * @param listeners also hear what changes, after it is in force
	 */
	StoreFollower(PolicyStore store, LivePolicies live, @Nullable Path file, Fleet fleet,
			List<ReplicaListener> listeners) {
		this.live = live;
		this.listeners = List.copyOf(listeners);
		SnapshotFile snapshots = (file != null) ? new SnapshotFile(file) : null;
		this.start = (snapshots != null) ? snapshots.read() : Snapshot.NONE;
		if (this.start.instances() > 0) {
			fleet.seen(this.start.instances());
		}
		this.replica = new Replica(store, this.start, new Events(), System::nanoTime);
		this.writer = (snapshots != null) ? new SnapshotWriter(snapshots, this.replica, fleet::size) : null;
		this.trimmer = new DeletionTrimmer(store, this.replica, fleet.instance());
	}

	Replica replica() {
		return this.replica;
	}

	void start() {
		this.replica.start();
		try {
			if (!this.replica.await(FIRST_READ_TIMEOUT) && !this.replica.state().missing()) {
				logger.warn("The policy store did not answer: this instance starts with its snapshot file, revision "
						+ "{}, and follows the store as soon as it answers", this.start.revision());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (this.writer != null) {
			this.writer.start();
		}
		this.trimmer.start();
	}

	@Override
	public void close() {
		this.trimmer.close();
		this.replica.close();
		if (this.writer != null) {
			this.writer.close();
		}
	}

	/**
	 * What happens to the copy: first it comes into force, then others hear of it.
	 */
	private final class Events implements ReplicaListener {

		@Override
		public void changed(List<RecordVersion> versions) {
			StoreFollower.this.live.changed(versions);
			Listeners.callAll(StoreFollower.this.listeners, (listener) -> listener.changed(versions));
		}

		@Override
		public void propagated(Duration time) {
			Listeners.callAll(StoreFollower.this.listeners, (listener) -> listener.propagated(time));
		}

		@Override
		public void stateChanged(ReplicaState state) {
			Listeners.callAll(StoreFollower.this.listeners, (listener) -> listener.stateChanged(state));
		}

	}

}
