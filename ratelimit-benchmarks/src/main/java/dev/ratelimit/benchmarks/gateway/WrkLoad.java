package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Objects;

/**
 * Load by wrk, with one thread.
 */
final class WrkLoad implements HttpLoad {

	private final Path wrk;

	private final int port;

	private final int connections;

	private final Path script;

	WrkLoad(Path wrk, int port, int connections) {
		this.wrk = wrk;
		this.port = port;
		this.connections = connections;
		try (InputStream in = Objects.requireNonNull(WrkLoad.class.getResourceAsStream("wrk.lua"))) {
			this.script = Files.createTempFile("benchmark-wrk-", ".lua");
			Files.copy(in, this.script, StandardCopyOption.REPLACE_EXISTING);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public Result run(Route route, Duration duration) {
		try {
			Process process = new ProcessBuilder(this.wrk.toString(), "-t1", "-c" + this.connections,
					"-d" + Math.max(1, duration.toSeconds()) + "s", "--timeout", "5s", "-s", this.script.toString(),
					"http://127.0.0.1:" + this.port + route.path(), "--", String.valueOf(route.callers()))
				.redirectErrorStream(true)
				.start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			process.waitFor();
			return result(output);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static Result result(String output) {
		String line = output.lines()
			.filter((each) -> each.startsWith("result "))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("wrk failed:\n" + output));
		String[] fields = line.split(" ");
		return new Result(Long.parseLong(fields[1]), Long.parseLong(fields[2]), Long.parseLong(fields[3]) / 1e6,
				Double.parseDouble(fields[4]), Double.parseDouble(fields[5]));
	}

	@Override
	public void close() {
		try {
			Files.deleteIfExists(this.script);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public String toString() {
		return "wrk";
	}

}
