package dev.ratelimit.store;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.store.RecordKey.Kind;

/**
 * An instance's copy on disk, with which it starts while the store is away. It is
 * replaced atomically: a process that dies during a write leaves the last one. It names
 * callers, so only its owner may read it.
 *
 * <p>
 * Format: magic number, version of the format, the snapshot, and a checksum of all that.
 * If the store has {@linkplain Forgotten forgotten} deletions, they follow, with a
 * checksum of everything; earlier releases read only up to the first checksum.
 */
public final class SnapshotFile {

	private static final Logger logger = LoggerFactory.getLogger(SnapshotFile.class);

	private static final int MAGIC = 0x524c_5053;

	private static final int FORMAT = 1;

	private static final int MAX_TEXT = 16 * 1024 * 1024;

	private final Path path;

	public SnapshotFile(Path path) {
		this.path = path.toAbsolutePath();
	}

	/**
	 * Reads the file; {@link Snapshot#NONE} if it is missing or invalid.
	 */
	public Snapshot read() {
		CRC32C checksum = new CRC32C();
		try (DataInputStream in = new DataInputStream(
				new CheckedInputStream(new BufferedInputStream(Files.newInputStream(this.path)), checksum))) {
			if (in.readInt() != MAGIC || in.readInt() != FORMAT) {
				return ignored("it is of another kind or version");
			}
			Snapshot snapshot = snapshot(in);
			if (!isIntact(in, checksum)) {
				return ignored("its checksum is wrong");
			}
			if (in.available() == 0) {
				return snapshot;
			}
			Forgotten forgotten = new Forgotten(in.readLong(), in.readLong());
			return isIntact(in, checksum) ? new Snapshot(snapshot.storeId(), snapshot.revision(), snapshot.instances(),
					snapshot.records(), forgotten) : ignored("its checksum is wrong");
		}
		catch (NoSuchFileException ex) {
			return Snapshot.NONE;
		}
		catch (IOException ex) {
			return ignored(ex.toString());
		}
		catch (RuntimeException ex) {
			return ignored("it is damaged");
		}
	}

	private static boolean isIntact(DataInputStream in, CRC32C checksum) throws IOException {
		long expected = checksum.getValue();
		return in.readLong() == expected;
	}

	/**
	 * Replaces the file. Only one process may do so at a time, see {@link SnapshotLock}.
	 */
	public void write(Snapshot snapshot) throws IOException {
		Path folder = createdFolder();
		// One name: what a process that died during a write left is overwritten.
		Path temporary = sibling(".tmp");
		try {
			Files.deleteIfExists(temporary);
			write(snapshot, temporary);
			Files.move(temporary, this.path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
			force(folder);
		}
		finally {
			Files.deleteIfExists(temporary);
		}
	}

	@Override
	public String toString() {
		return this.path.toString();
	}

	/** A file next to this one. */
	Path sibling(String suffix) {
		return this.path.resolveSibling(this.path.getFileName() + suffix);
	}

	/** Only the owner may list a folder that is made here. */
	Path createdFolder() throws IOException {
		Path folder = this.path.getParent();
		return (folder != null) ? Files.createDirectories(folder, ownerOnly("rwx------")) : this.path;
	}

	/** Opens a file that only the owner may read and write, if it is created. */
	static FileChannel open(Path file, OpenOption... options) throws IOException {
		return FileChannel.open(file, Set.of(options), ownerOnly("rw-------"));
	}

	private static FileAttribute<?>[] ownerOnly(String permissions) {
		return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
				? new FileAttribute<?>[] {
						PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)) }
				: new FileAttribute<?>[0];
	}

	private Snapshot ignored(String why) {
		logger.warn(
				"Snapshot file {} is ignored ({}): until the store answers, only configured policies hold. It is "
						+ "replaced with the next change; delete it, or set another path, if something else wrote it",
				this.path, why);
		return Snapshot.NONE;
	}

	private static void write(Snapshot snapshot, Path file) throws IOException {
		CRC32C checksum = new CRC32C();
		try (FileChannel channel = open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
				DataOutputStream out = new DataOutputStream(new CheckedOutputStream(
						new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16), checksum))) {
			out.writeInt(MAGIC);
			out.writeInt(FORMAT);
			write(snapshot, out);
			out.writeLong(checksum.getValue());
			if (!snapshot.forgotten().equals(Forgotten.NONE)) {
				out.writeLong(snapshot.forgotten().revision());
				out.writeLong(snapshot.forgotten().version());
				out.writeLong(checksum.getValue());
			}
			out.flush();
			channel.force(true);
		}
	}

	/** Brings the new name to disk, where the system can. */
	private static void force(Path folder) {
		try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
			channel.force(true);
		}
		catch (IOException ex) {
			logger.debug("The folder of the snapshot cannot be forced to disk", ex);
		}
	}

	private static void write(Snapshot snapshot, DataOutputStream out) throws IOException {
		write(snapshot.storeId(), out);
		out.writeLong(snapshot.revision());
		out.writeInt(snapshot.instances());
		out.writeInt(snapshot.records().size());
		for (RecordVersion version : snapshot.records()) {
			write(version.key().kind().name(), out);
			write(version.key().id(), out);
			out.writeLong(version.version());
			out.writeLong(version.revision());
			write(version.body(), out);
			write(version.actor(), out);
			out.writeLong(version.time().getEpochSecond());
			out.writeInt(version.time().getNano());
			write(version.reason(), out);
		}
	}

	private static Snapshot snapshot(DataInputStream in) throws IOException {
		String storeId = text(in);
		long revision = in.readLong();
		int instances = in.readInt();
		int count = in.readInt();
		List<RecordVersion> records = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			RecordKey key = key(text(in), text(in));
			records.add(new RecordVersion(key, in.readLong(), in.readLong(), nullable(in), text(in),
					Instant.ofEpochSecond(in.readLong(), in.readInt()), text(in)));
		}
		return new Snapshot(storeId, revision, instances, records, Forgotten.NONE);
	}

	/** Newer releases may have written kinds that this one does not know. */
	private static RecordKey key(String kind, String id) {
		return kind.equals(Kind.UNKNOWN.name()) ? RecordKey.named(id)
				: RecordKey.stored(kind.toLowerCase(Locale.ROOT), id);
	}

	private static void write(@Nullable String text, DataOutputStream out) throws IOException {
		if (text == null) {
			out.writeInt(-1);
			return;
		}
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		out.writeInt(bytes.length);
		out.write(bytes);
	}

	private static String text(DataInputStream in) throws IOException {
		String text = nullable(in);
		if (text == null) {
			throw new IOException("a text is missing");
		}
		return text;
	}

	/** Lengths are not trusted: the checksum comes last. */
	private static @Nullable String nullable(DataInputStream in) throws IOException {
		int length = in.readInt();
		if (length < -1 || length > MAX_TEXT) {
			throw new IOException("a length is wrong");
		}
		if (length == -1) {
			return null;
		}
		byte[] bytes = in.readNBytes(length);
		if (bytes.length < length) {
			throw new IOException("it is cut off");
		}
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
