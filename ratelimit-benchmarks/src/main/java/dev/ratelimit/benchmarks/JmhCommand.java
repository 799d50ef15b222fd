package dev.ratelimit.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.openjdk.jmh.Main;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/**
 * The benchmarks of what happens within a process. All that follows goes to JMH:
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh -h}.
 */
@Command(name = "jmh", description = "Benchmarks within the process; all that follows goes to JMH (jmh -l lists them).")
final class JmhCommand implements Callable<Integer> {

	@Unmatched
	private List<String> arguments = new ArrayList<>();

	@Override
	public Integer call() throws IOException {
		Main.main(this.arguments.toArray(String[]::new));
		return 0;
	}

}
