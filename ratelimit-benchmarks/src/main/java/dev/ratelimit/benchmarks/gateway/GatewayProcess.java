package dev.ratelimit.benchmarks.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A gateway in a JVM of its own.
 */
final class GatewayProcess implements AutoCloseable {

	private final Process process;

	private final int port;

	/**
	 * Starts a gateway and returns when it listens.
	 * @param arguments of the application
	 */
	GatewayProcess(List<String> arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms400m", "-Xmx400m",
						"-cp", System.getProperty("java.class.path"), GatewayApplication.class.getName()));
		command.addAll(arguments);
		this.process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
		BufferedReader out = this.process.inputReader();
		String line = out.readLine();
		while (line != null && !line.matches("\\d+")) {
			System.err.println(line);
			line = out.readLine();
		}
		if (line == null) {
			this.process.destroyForcibly();
			throw new IllegalStateException("the gateway did not start, see above");
		}
		this.port = Integer.parseInt(line);
	}

	int port() {
		return this.port;
	}

	/** Processor time used so far. */
	Duration cpu() {
		return this.process.info().totalCpuDuration().orElse(Duration.ZERO);
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

}
