package dev.ratelimit.store;

import java.io.IOException;
import java.time.Duration;
import java.util.function.IntSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Loop;

/**
 * Writes an instance's copy to the snapshot file when it has changed, on a background
 * thread: at most once a second, and for no more than a twentieth of the time. Of several
 * instances with the same file one writes, until it ends.
 */
public final class SnapshotWriter implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SnapshotWriter.class);

	private static final Duration PERIOD = Duration.ofSeconds(1);

	private static final int REST = 20;

	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

	private final SnapshotFile file;

	private final SnapshotLock lock;

	private final Replica replica;

	private final IntSupplier instances;

	private final FailureLog failures;

	private final Loop loop;

	private boolean reportedLock;

	private Written written = new Written("", 0, 0);

	public SnapshotWriter(SnapshotFile file, Replica replica, IntSupplier instances) {
		this.file = file;
		this.lock = new SnapshotLock(file);
		this.replica = replica;
		this.instances = instances;
		this.failures = new FailureLog(logger, "Snapshot file " + file
				+ " cannot be written ({}): a restart while the store is away would begin "
				+ "with an older one or without. Make the folder writable, or set ratelimit.policies-store.snapshot-file "
				+ "to another path, or to none", "Snapshot file " + file + " is written again");
		this.loop = new Loop("ratelimit-snapshot", this::turn, this::writeLast);
	}

	public void start() {
		this.loop.start(PERIOD);
	}

	/** Writes the last changes. */
	@Override
	public void close() {
		this.loop.end(CLOSE_TIMEOUT);
	}

	/** Rests after a failure too: a disk that is full or slow stays so for a while. */
	private Duration turn() {
		long start = System.nanoTime();
		tryToWrite();
		Duration rest = Duration.ofNanos(System.nanoTime() - start).multipliedBy(REST);
		return (rest.compareTo(PERIOD) > 0) ? rest : PERIOD;
	}

	private void writeLast() throws IOException {
		tryToWrite();
		this.lock.close();
	}

	private void tryToWrite() {
		try {
			write();
			this.failures.worked();
		}
		catch (IOException | RuntimeException ex) {
			this.failures.failed(ex.toString());
		}
	}

	private void write() throws IOException {
		ReplicaState state = this.replica.state();
		int instances = this.instances.getAsInt();
		boolean changed = !this.written.equals(new Written(state.storeId(), state.revision(), instances));
		if (changed && !state.missing() && hasLock()) {
			Snapshot snapshot = this.replica.snapshot(instances);
			this.file.write(snapshot);
			this.written = new Written(snapshot.storeId(), snapshot.revision(), instances);
		}
	}

	private boolean hasLock() throws IOException {
		boolean locked = this.lock.acquire();
		if (!locked && !this.reportedLock) {
			logger.info("Snapshot file {} is written by another instance; this one only reads it", this.file);
		}
		this.reportedLock = !locked;
		return locked;
	}

	private record Written(String storeId, long revision, int instances) {
	}

}
