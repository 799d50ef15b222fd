package dev.ratelimit.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
			new RecordVersion(new RecordKey(Kind.DENY, "tenant=acme"), 5, 6, null, "", Instant.EPOCH, "two\nlines")));

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
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(this.path))).isEqualTo("rw-------");
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
