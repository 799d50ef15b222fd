package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import one.profiler.AsyncProfilerLoader;
import org.jspecify.annotations.Nullable;

/**
 * Profiles the gateway by async-profiler. The event {@code itimer} needs no rights.
 */
final class Profiler implements AutoCloseable {

	private final Path directory;

	private final @Nullable Path stacks;

	/**
	 * Prepares the profiler.
	 * @param stacks folder in which the stacks are kept, one file for each profile, or
	 * {@code null} if they are not
	 */
	Profiler(@Nullable Path stacks) throws IOException {
		this.stacks = stacks;
		this.directory = Files.createTempDirectory("benchmark-profiler-");
		AsyncProfilerLoader.setExtractionDirectory(this.directory);
	}

	static boolean supported() {
		return AsyncProfilerLoader.isSupported();
	}

	/** Profiles the gateway while a route is under load. */
	Profile run(GatewayProcess gateway, HttpLoad load, Route route, int number, Duration duration) throws IOException {
		Path folder = (this.stacks != null) ? Files.createDirectories(this.stacks) : this.directory;
		Path file = folder.resolve(route.id() + "-" + number + ".txt").toAbsolutePath();
		// The load lasts longer than the profile, which takes a moment to begin.
		CompletableFuture<HttpLoad.Result> requests = CompletableFuture
			.supplyAsync(() -> load.run(route, duration.plusSeconds(2)));
		try {
			AsyncProfilerLoader.executeProfiler("-e", "itimer", "-i", "1ms", "-d", String.valueOf(duration.toSeconds()),
					"-t", "-o", "collapsed", "-f", file.toString(), String.valueOf(gateway.pid()));
		}
		finally {
			requests.join();
		}
		HttpLoad.Result result = requests.join();
		try (Stream<String> lines = Files.lines(file)) {
			return Profile.of(result.failedShare(), lines);
		}
	}

	@Override
	public void close() {
		try (Stream<Path> files = Files.walk(this.directory)) {
			files.sorted(Comparator.reverseOrder()).forEach((file) -> file.toFile().delete());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
