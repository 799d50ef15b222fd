package dev.ratelimit.benchmarks.common;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

/**
 * A server of the machine's own, such as redis-server or nginx, with a temporary folder
 * and a port. It ends with this JVM, even if the JVM is killed: a small shell waits for
 * the end of the pipe.
 */
public final class ChildProgram implements AutoCloseable {

	/**
	 * Prints the program's pid. A shell's background job would have no standard input.
	 */
	private static final String SCRIPT = """
			exec 3<&0 </dev/null
			"$@" 3<&- >>"$0/output.log" 2>&1 &
			program=$!
			(trap '' TERM INT HUP; cat <&3; kill -9 $program; rm -rf "$0") >/dev/null 2>&1 &
			exec 3<&-
			echo $program
			wait $program
			""";

	private final Process shell;

	private final ProcessHandle program;

	private final int port;

	private ChildProgram(Process shell, ProcessHandle program, int port) {
		this.shell = shell;
		this.program = program;
		this.port = port;
	}

	/**
	 * Looks for a program on the PATH, and in the folder where Debian keeps servers.
	 * @return the program, or {@code null} if it is not installed
	 */
	public static @Nullable Path find(String name) {
		String path = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/sbin";
		return Arrays.stream(path.split(File.pathSeparator))
			.filter((folder) -> !folder.isEmpty())
			.map((folder) -> Path.of(folder, name))
			.filter(Files::isExecutable)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Starts a program.
	 * @param name of its folder
	 * @param command for the folder and the port
	 */
	public static ChildProgram start(String name, BiFunction<Path, Integer, List<String>> command) {
		try {
			int port = freePort();
			Path directory = Files.createTempDirectory("benchmark-" + name + "-");
			List<String> all = new ArrayList<>(List.of("sh", "-c", SCRIPT, directory.toString()));
			all.addAll(command.apply(directory, port));
			Process shell = new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.DISCARD).start();
			BufferedReader out = shell.inputReader();
			ProcessHandle program = ProcessHandle.of(Long.parseLong(out.readLine()))
				.orElseThrow(() -> new IllegalStateException(name + " did not start"));
			return new ChildProgram(shell, program, port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	public int port() {
		return this.port;
	}

	public boolean alive() {
		return this.program.isAlive();
	}

	/** Processor time used so far, in seconds. */
	public double cpuSeconds() {
		return this.program.info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9;
	}

	@Override
	public void close() {
		try {
			this.shell.getOutputStream().close();
			this.shell.waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
