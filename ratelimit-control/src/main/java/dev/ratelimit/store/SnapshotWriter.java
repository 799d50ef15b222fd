package dev.ratelimit.store;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes an instance's copy to its file when it has changed, on a thread of its own: at
 * most once a second, and never for more than a twentieth of the time.
 */
public final class SnapshotWriter implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SnapshotWriter.class);

	private static final long PERIOD_MILLIS = 1_000;

	private static final int REST = 20;

	private static final long GOODBYE_MILLIS = 5_000;

	private final SnapshotFile file;

	private final Replica replica;

	private final IntSupplier instances;

	private final CountDownLatch ending = new CountDownLatch(1);

	private final Thread thread = new Thread(this::run, "ratelimit-snapshot");

	private String storeId = "";

	private long revision;

	private int written;

	private boolean failing;

	/**
	 * A writer that does not write yet.
	 * @param instances how many the fleet has
	 */
	public SnapshotWriter(SnapshotFile file, Replica replica, IntSupplier instances) {
		this.file = file;
		this.replica = replica;
		this.instances = instances;
		this.thread.setDaemon(true);
	}

	public void start() {
		this.thread.start();
	}

	/** Writes what has changed since the last time. */
	@Override
	public void close() {
		this.ending.countDown();
		try {
			this.thread.join(GOODBYE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void run() {
		try {
			long pause = PERIOD_MILLIS;
			while (!this.ending.await(pause, TimeUnit.MILLISECONDS)) {
				long start = System.nanoTime();
				write();
				pause = Math.max(PERIOD_MILLIS, REST * TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
			}
			write();
		}
		catch (InterruptedException ex) {
			logger.debug("No snapshots are written any more", ex);
		}
	}

	private void write() {
		ReplicaState state = this.replica.state();
		int instances = this.instances.getAsInt();
		boolean same = state.storeId().equals(this.storeId) && state.revision() == this.revision;
		if (same && instances == this.written) {
			return;
		}
		try {
			Snapshot snapshot = this.replica.snapshot(instances);
			this.file.write(snapshot);
			this.storeId = snapshot.storeId();
			this.revision = snapshot.revision();
			this.written = instances;
			this.failing = false;
		}
		catch (IOException | RuntimeException ex) {
			if (!this.failing) {
				logger
					.warn("Snapshot file {} cannot be written ({}): a restart while the store is away would begin with "
							+ "an older one. Free the disk or make the folder writable", this.file, ex.toString());
			}
			this.failing = true;
		}
	}

}
