package dev.ratelimit.benchmarks.common;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * A server in a JVM of its own, which prints a line with its port when it listens.
 */
public final class ServerJvm implements AutoCloseable {

	/** The last two let the profiler name the frame in which a sample was taken. */
	private static final List<String> OPTIONS = List.of("-Xms512m", "-Xmx512m", "-XX:+UnlockDiagnosticVMOptions",
			"-XX:+DebugNonSafepoints");

	private final Process process;

	private final int port;

	private ServerJvm(Process process, int port) {
		this.process = process;
		this.port = port;
	}

	/**
	 * Starts the server and returns when it listens.
	 * @param name for errors
	 */
	public static ServerJvm start(String name, Class<?> main, List<String> arguments) throws IOException {
		Process process = ChildJvm.start(OPTIONS, main.getName(), arguments);
		BufferedReader out = process.inputReader();
		String line = out.readLine();
		while (line != null && !line.matches("-?\\d+")) {
			System.err.println(line);
			line = out.readLine();
		}
		if (line == null) {
			process.destroyForcibly();
			throw new IllegalStateException("the " + name + " did not start, see above");
		}
		return new ServerJvm(process, Integer.parseInt(line));
	}

	/** The printed port. */
	public int port() {
		return this.port;
	}

	public long pid() {
		return this.process.pid();
	}

	/** Processor time used so far, in seconds. */
	public double cpuSeconds() {
		return this.process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9;
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

}
