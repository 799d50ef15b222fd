package dev.ratelimit.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * Lets one instance of a host write a snapshot file; others only read it. The lock is on
 * a file of its own, because the snapshot is replaced, and ends with the process.
 */
final class SnapshotLock implements AutoCloseable {

	/**
	 * Files that this process has locked. POSIX drops a lock when the process closes any
	 * channel of the file, so nobody else of this process may open it.
	 */
	private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

	private final SnapshotFile file;

	private @Nullable Held held;

	SnapshotLock(SnapshotFile file) {
		this.file = file;
	}

	/**
	 * Takes the lock, if this instance does not have it.
	 * @return whether this instance has it now
	 */
	boolean acquire() throws IOException {
		if (this.held == null) {
			// The real folder: two paths may lead to one file.
			Path lock = this.file.createdFolder().toRealPath().resolve(this.file.sibling(".lock").getFileName());
			if (LOCKED.add(lock)) {
				try {
					this.held = lock(lock);
				}
				finally {
					if (this.held == null) {
						LOCKED.remove(lock);
					}
				}
			}
		}
		return this.held != null;
	}

	@Override
	public void close() throws IOException {
		Held held = this.held;
		this.held = null;
		if (held != null) {
			try {
				held.channel().close();
			}
			finally {
				LOCKED.remove(held.path());
			}
		}
	}

	private static @Nullable Held lock(Path path) throws IOException {
		FileChannel channel = SnapshotFile.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
		boolean locked = false;
		try {
			locked = channel.tryLock() != null;
		}
		catch (OverlappingFileLockException ex) {
			// Another class loader of this process has it.
		}
		finally {
			if (!locked) {
				channel.close();
			}
		}
		return locked ? new Held(path, channel) : null;
	}

	private record Held(Path path, FileChannel channel) {
	}

}
