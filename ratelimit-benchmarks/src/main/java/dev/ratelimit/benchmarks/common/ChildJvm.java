package dev.ratelimit.benchmarks.common;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts a JVM with the class path of this one.
 */
public final class ChildJvm {

	private ChildJvm() {
	}

	/**
	 * Starts the JVM; its errors go where ours go.
	 * @param options of the JVM
	 * @param main the class to run
	 * @param arguments of that class
	 */
	public static Process start(List<String> options, String main, List<String> arguments) throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(options);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
		command.addAll(arguments);
		return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
	}

}
