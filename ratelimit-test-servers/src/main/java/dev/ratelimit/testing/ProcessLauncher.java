package dev.ratelimit.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a redis-server binary that comes inside a Maven artifact, for machines without
 * Docker.
 * <p>
 * Each server is the child of a small shell. The shell exits when the server does, so
 * that its pid cannot be reused while the shell is alive; and a watchdog reads the pipe
 * from this JVM, whose end comes even when the JVM is killed, and then kills the server
 * and removes its folder. A line in the pipe means that only this server is to be closed;
 * its end without one, that the JVM is gone and needs the binary no more.
 */
final class ProcessLauncher implements Launcher {

	// The watchdog ignores TERM once it has begun, else the shell would end it half-way.
	private static final String SCRIPT = """
			exec 3<&0 </dev/null
			"$@" 3<&- >>"$0/output.log" 2>&1 &
			server=$!
			(read -r close <&3 || { rm -f "$1"; rmdir "${1%/*}"; }
			trap '' TERM; kill -9 $server; rm -rf "$0") >/dev/null 2>&1 &
			watchdog=$!
			exec 3<&-
			echo $server
			wait $server
			kill $watchdog
			wait
			""";

	private final String binary;

	/**
	 * Runs the given binary.
	 * @param binary in a folder of its own, which is removed when this JVM is killed
	 */
	ProcessLauncher(Path binary) {
		this.binary = binary.toString();
	}

	@Override
	public Launched launch(Path directory, List<String> arguments) {
		List<String> command = new ArrayList<>(List.of("sh", "-c", SCRIPT, directory.toString(), this.binary));
		command.addAll(arguments);
		Process shell = start(command);
		BufferedReader reader = shell.inputReader(StandardCharsets.US_ASCII);
		return new Running(shell, Long.parseLong(Unchecked.call(reader::readLine)), directory.resolve("output.log"));
	}

	/** Uses the shell's own kill: /bin/kill is missing in small images. */
	static void signal(String name, String pids) {
		waitFor(start(List.of("sh", "-c", "kill -" + name + " " + pids)));
	}

	private static Process start(List<String> command) {
		return Unchecked.call(() -> new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start());
	}

	private static void waitFor(Process process) {
		try {
			process.waitFor();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting for " + process.info(), ex);
		}
	}

	private record Running(Process shell, long pid, Path log) implements Launched {

		@Override
		public boolean alive() {
			return this.shell.isAlive();
		}

		@Override
		public void freeze() {
			send("STOP");
		}

		@Override
		public void thaw() {
			send("CONT");
		}

		@Override
		public void kill() {
			send("KILL");
			waitFor(this.shell);
		}

		@Override
		public String output() {
			return Unchecked
				.call(() -> Files.exists(this.log) ? Files.readString(this.log, StandardCharsets.ISO_8859_1) : "");
		}

		@Override
		public void close() {
			if (alive()) {
				try (Writer pipe = this.shell.outputWriter(StandardCharsets.US_ASCII)) {
					pipe.write("close\n");
				}
				catch (IOException ex) {
					// The server ended by itself, and its shell with it.
				}
				waitFor(this.shell);
			}
		}

		private void send(String signal) {
			if (alive()) {
				signal(signal, String.valueOf(this.pid));
			}
		}

	}

}
