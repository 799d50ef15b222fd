package dev.ratelimit.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;

/**
 * The port and the folder of a server, which outlive its process: a restarted server
 * finds the configuration that Sentinels or its cluster left there, and what SAVE wrote.
 */
record ServerHome(int port, Path directory) {

	static final String HOST = "127.0.0.1";

	private static final Launcher LAUNCHER = Launcher.choose();

	static ServerHome create() {
		int port = Ports.take();
		Path directory = Unchecked.call(() -> Files.createTempDirectory("redis-" + port + "-"));
		Unchecked.call(() -> Files.createFile(directory.resolve("redis.conf")));
		return new ServerHome(port, directory);
	}

	/** Starts redis-server here and returns when it answers. */
	Launcher.Launched launch(List<String> options) {
		Launcher.Launched launched = LAUNCHER.launch(this.directory, arguments(options));
		try {
			await("redis-server to answer").atMost(Duration.ofSeconds(20))
				.pollInterval(Duration.ofMillis(5))
				.until(() -> !launched.alive() || (answers() && listens(launched)));
			if (launched.alive()) {
				return launched;
			}
			throw failure(launched, null);
		}
		catch (ConditionTimeoutException ex) {
			throw failure(launched, ex);
		}
	}

	static ConditionFactory await(String what) {
		return Awaitility.await(what)
			.atMost(Duration.ofSeconds(30))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(50));
	}

	/** Removes what SAVE wrote, which a later restart would load. */
	void forget() {
		Unchecked.call(() -> Files.deleteIfExists(this.directory.resolve("dump.rdb")));
	}

	void delete() {
		Ports.giveBack(this.port);
		delete(this.directory);
	}

	static void delete(Path directory) {
		if (Files.exists(directory)) {
			try (Stream<Path> files = Unchecked.call(() -> Files.walk(directory))) {
				files.sorted(Comparator.reverseOrder()).forEach((file) -> file.toFile().delete());
			}
		}
	}

	// The last two are for replicas: leave no file of the data behind, and begin to copy
	// at once instead of after five seconds.
	private List<String> arguments(List<String> options) {
		List<String> arguments = new ArrayList<>(List.of(this.directory.resolve("redis.conf").toString(), "--port",
				String.valueOf(this.port), "--bind", HOST, "--protected-mode", "no", "--dir", this.directory.toString(),
				"--save", "", "--appendonly", "no", "--rdb-del-sync-files", "yes", "--repl-diskless-sync-delay", "0"));
		arguments.addAll(options);
		return arguments;
	}

	private boolean answers() {
		try {
			String reply = Commands.sendInline(HOST, this.port, "PING");
			return reply.equals("+PONG") || reply.startsWith("-NOAUTH");
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** Another server may answer on the port while this one is about to fail at it. */
	private static boolean listens(Launcher.Launched launched) {
		String output = launched.output();
		return output.contains("Ready to accept connections") || output.contains("Sentinel ID is");
	}

	private IllegalStateException failure(Launcher.Launched launched, Exception cause) {
		String output = launched.output();
		launched.kill();
		String tail = output.substring(Math.max(0, output.length() - 2000));
		return new IllegalStateException("redis-server did not start on port " + this.port + ":\n" + tail, cause);
	}

}
