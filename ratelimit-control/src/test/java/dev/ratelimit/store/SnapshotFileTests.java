package dev.ratelimit.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import dev.ratelimit.store.RecordKey.Kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

class SnapshotFileTests {

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(SnapshotFile.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final Snapshot snapshot = new Snapshot("id", 7, 3, List.of(
			new RecordVersion(new RecordKey(Kind.POLICY, "orders"), 2, 7, "{\"ä\": \"🚀\"}", "ann",
					Instant.parse("2026-01-02T03:04:05.678901Z"), ""),
			new RecordVersion(new RecordKey(Kind.DENY, "tenant=acme"), 5, 6, null, "", Instant.EPOCH, "two\nlines")),
			Forgotten.NONE);

	private final Path path;

	private final SnapshotFile file;

	SnapshotFileTests(@TempDir Path folder) {
		this.path = folder.resolve("policies.snapshot");
		this.file = new SnapshotFile(this.path);
	}

	@BeforeEach
	void listen() {
		this.log.start();
		LOGGER.addAppender(this.log);
	}

	@AfterEach
	void stopListening() {
		LOGGER.detachAppender(this.log);
	}

	@Test
	void snapshotIsReadAsItWasWritten() throws IOException {
		this.file.write(this.snapshot);
		assertThat(this.file.read()).isEqualTo(this.snapshot);
	}

	@Test
	void recordOfAKindThatThisReleaseDoesNotKnowIsKept() throws IOException {
		RecordKey invented = RecordKey.stored("invented", "tenant/acme");
		Snapshot newer = new Snapshot("id", 7, 3,
				List.of(new RecordVersion(invented, 1, 7, "{}", "ann", Instant.EPOCH, "")), Forgotten.NONE);
		this.file.write(newer);
		assertThat(this.file.read()).isEqualTo(newer);
	}

	@Test
	void whatTheStoreHasForgottenIsReadAgain() throws IOException {
		Snapshot forgetful = new Snapshot("id", 7, 3, this.snapshot.records(), new Forgotten(5, 812));
		this.file.write(forgetful);
		assertThat(this.file.read()).isEqualTo(forgetful);
		byte[] bytes = Files.readAllBytes(this.path);
		this.file.write(this.snapshot);
		byte[] earlier = Files.readAllBytes(this.path);
		assertThat(Arrays.copyOf(bytes, earlier.length)).isEqualTo(earlier);
		assertThat(IntStream.range(earlier.length, bytes.length).mapToObj((i) -> {
			byte[] changed = bytes.clone();
			changed[i] ^= 0x41;
			return readFrom(changed);
		})).containsOnly(Snapshot.NONE);
		assertThat(IntStream.range(earlier.length + 1, bytes.length).mapToObj((i) -> readFrom(Arrays.copyOf(bytes, i))))
			.containsOnly(Snapshot.NONE);
	}

	@Test
	void missingFileIsNothingAndNotWorthALine() {
		assertThat(this.file.read()).isEqualTo(Snapshot.NONE);
		assertThat(this.log.list).isEmpty();
	}

	@Test
	void folderIsMade() throws IOException {
		SnapshotFile deep = new SnapshotFile(this.path.resolveSibling("a").resolve("b"));
		deep.write(this.snapshot);
		assertThat(deep.read()).isEqualTo(this.snapshot);
	}

	@Test
	void laterSnapshotReplacesTheEarlierOneAndNothingElseStays() throws IOException {
		this.file.write(Snapshot.NONE);
		this.file.write(this.snapshot);
		assertThat(this.file.read()).isEqualTo(this.snapshot);
		try (Stream<Path> files = Files.list(this.path.getParent())) {
			assertThat(files).containsExactly(this.path);
		}
	}

	@Test
	void onlyTheOwnerMayReadIt() throws IOException {
		this.file.write(this.snapshot);
		assertThat(permissions(this.path)).isEqualTo("rw-------");
		SnapshotFile deep = new SnapshotFile(this.path.resolveSibling("state").resolve("a"));
		deep.write(this.snapshot);
		assertThat(permissions(this.path.resolveSibling("state"))).isEqualTo("rwx------");
	}

	@Test
	void whatAWriterThatDiedLeftIsReplacedAndDoesNotStay() throws IOException {
		Files.writeString(this.path.resolveSibling("policies.snapshot.tmp"), "half of a snapshot");
		this.file.write(this.snapshot);
		assertThat(this.file.read()).isEqualTo(this.snapshot);
		assertThat(permissions(this.path)).isEqualTo("rw-------");
		try (Stream<Path> files = Files.list(this.path.getParent())) {
			assertThat(files).containsExactly(this.path);
		}
	}

	@Test
	void oneInstanceHasTheLockUntilItEnds() throws IOException {
		SnapshotLock first = new SnapshotLock(this.file);
		try (SnapshotLock second = new SnapshotLock(this.file)) {
			assertThat(first.acquire()).isTrue();
			assertThat(first.acquire()).isTrue();
			assertThat(second.acquire()).isFalse();
			assertThat(permissions(this.path.resolveSibling("policies.snapshot.lock"))).isEqualTo("rw-------");
			first.close();
			assertThat(second.acquire()).isTrue();
		}
	}

	@Test
	void lockStaysWhenAnotherInstanceOfTheProcessAsksForIt() throws Exception {
		Path other = Files.createSymbolicLink(this.path.resolveSibling("other"), this.path.getParent());
		try (SnapshotLock first = new SnapshotLock(this.file);
				SnapshotLock second = new SnapshotLock(this.file);
				SnapshotLock third = new SnapshotLock(new SnapshotFile(other.resolve("policies.snapshot")))) {
			assertThat(first.acquire()).isTrue();
			assertThat(second.acquire()).isFalse();
			assertThat(third.acquire()).isFalse();
			assertThat(freeForOtherProcesses()).isFalse();
		}
		assertThat(freeForOtherProcesses()).isTrue();
	}

	private boolean freeForOtherProcesses() throws Exception {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				Path.of(LockProbe.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString(),
				LockProbe.class.getName(), this.path.resolveSibling("policies.snapshot.lock").toString())
			.inheritIO()
			.start();
		int status = process.waitFor();
		assertThat(status).isBetween(LockProbe.FREE, LockProbe.LOCKED);
		return status == LockProbe.FREE;
	}

	/** Another process, which looks whether a file is locked. */
	static final class LockProbe {

		static final int FREE = 40;

		static final int LOCKED = 41;

		private LockProbe() {
		}

		public static void main(String[] arguments) throws IOException {
			try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE)) {
				System.exit((channel.tryLock() != null) ? FREE : LOCKED);
			}
		}

	}

	@Test
	void fileWithAnyByteChangedIsIgnored() throws IOException {
		this.file.write(this.snapshot);
		byte[] bytes = Files.readAllBytes(this.path);
		assertThat(IntStream.range(0, bytes.length).mapToObj((i) -> {
			byte[] changed = bytes.clone();
			changed[i] ^= 0x41;
			return readFrom(changed);
		})).containsOnly(Snapshot.NONE);
	}

	@Test
	void fileCutOffAnywhereIsIgnored() throws IOException {
		this.file.write(this.snapshot);
		byte[] bytes = Files.readAllBytes(this.path);
		assertThat(IntStream.range(0, bytes.length).mapToObj((i) -> readFrom(Arrays.copyOf(bytes, i))))
			.containsOnly(Snapshot.NONE);
	}

	@Test
	void foreignFileIsIgnoredWithOneWarningThatNamesItAndTheFix() {
		assertThat(readFrom("server.port=8080".getBytes(StandardCharsets.UTF_8))).isEqualTo(Snapshot.NONE);
		assertThat(this.log.list).singleElement().satisfies((event) -> {
			assertThat(event.getLevel()).isEqualTo(Level.WARN);
			assertThat(event.getFormattedMessage()).contains(this.path.toString(), "delete it");
		});
	}

	@Test
	void fileThatCannotBeReplacedStaysAsItIs() throws IOException {
		this.file.write(this.snapshot);
		SnapshotFile below = new SnapshotFile(this.path.resolve("below"));
		assertThatIOException().isThrownBy(() -> below.write(Snapshot.NONE));
		assertThat(this.file.read()).isEqualTo(this.snapshot);
	}

	private static String permissions(Path path) throws IOException {
		return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
	}

	private Snapshot readFrom(byte[] bytes) {
		try {
			Files.write(this.path, bytes);
			return this.file.read();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
