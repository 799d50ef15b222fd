package dev.ratelimit.benchmarks;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The command line of the benchmarks:
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar}.
 */
@Command(name = "ratelimit-benchmarks", description = "Measures the rate limiter on servers that it starts itself.",
		mixinStandardHelpOptions = true, subcommands = MemoryCommand.class)
final class Benchmarks {

	private Benchmarks() {
	}

	public static void main(String[] arguments) {
		System.exit(new CommandLine(new Benchmarks()).execute(arguments));
	}

}
