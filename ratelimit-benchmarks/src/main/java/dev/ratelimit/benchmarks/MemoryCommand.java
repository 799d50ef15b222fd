package dev.ratelimit.benchmarks;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.testing.RedisServer;

/**
 * What a counter costs in Redis, everything included: the growth of {@code used_memory}
 * over a number of counters, which holds keys, values, expiry and the hash tables. The
 * tables double in size as they fill, so the share of a counter depends on how many there
 * are; the documented numbers are those of 1,000,000.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar memory}
 */
@Command(name = "memory", description = "Bytes per counter in Redis, everything included.",
		mixinStandardHelpOptions = true)
final class MemoryCommand implements Callable<Integer> {

	@Option(names = "--counters", defaultValue = "1000000", paramLabel = "N",
			description = "Counters per case (default: ${DEFAULT-VALUE}).")
	private int counters;

	@Option(names = "--uri", paramLabel = "URI",
			description = "An empty standalone Redis to measure instead of one started for it; it is flushed.")
	private @Nullable String uri;

	@Option(names = "--json", paramLabel = "FILE", description = "Also writes the results to a file.")
	private @Nullable File json;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		Report report;
		if (this.uri != null) {
			report = measure(RedisURI.create(this.uri));
		}
		else {
			try (RedisServer server = RedisServer.start()) {
				report = measure(server.uri());
			}
		}
		report.print(this.spec.commandLine().getOut());
		if (this.json != null) {
			new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(this.json, report);
		}
		return report.kept() ? 0 : 1;
	}

	private Report measure(RedisURI uri) {
		try (RedisMemory memory = new RedisMemory(uri)) {
			List<Result> results = new ArrayList<>();
			for (MemoryCase each : MemoryCase.all()) {
				results.add(new Result(each.name(), memory.bytesPerCounter(each, this.counters), each.bound()));
			}
			return new Report(memory.version(), memory.allocator(), this.counters, results);
		}
	}

	/**
	 * All results of one server.
	 *
	 * @param redis its version
	 * @param allocator its allocator; the bounds are promised for jemalloc
	 * @param counters how many were made per case
	 * @param results in the order of the cases
	 */
	record Report(String redis, String allocator, int counters, List<Result> results) {

		boolean kept() {
			return !judged() || this.results.stream().allMatch(Result::within);
		}

		private boolean judged() {
			return this.allocator.startsWith("jemalloc");
		}

		void print(PrintWriter out) {
			out.printf("%nBytes per counter, everything included, at %,d counters on Redis %s with %s%n%n",
					this.counters, this.redis, this.allocator);
			out.printf("| %-41s | %7s | %-11s |%n", "counter", "bytes", "bound");
			out.printf("|%s|%s:|%s|%n", "-".repeat(43), "-".repeat(8), "-".repeat(13));
			for (Result result : this.results) {
				out.printf("| %-41s | %7.1f | %-11s |%n", result.name(), result.bytes(), verdict(result));
			}
			if (!judged()) {
				out.printf("%nNot judged: the bounds are those of a Redis with jemalloc, and this one has %s. "
						+ "Measure another with --uri.%n", this.allocator);
			}
			out.flush();
		}

		private String verdict(Result result) {
			if (result.bound() == null) {
				return "";
			}
			return "<= " + result.bound() + (judged() ? (result.within() ? " ok" : " OVER") : "");
		}

	}

	/**
	 * What one kind of counter costs.
	 *
	 * @param name the kind
	 * @param bytes per counter
	 * @param bound what it may cost, {@code null} if nothing was promised
	 */
	record Result(String name, double bytes, @Nullable Integer bound) {

		boolean within() {
			return this.bound == null || this.bytes <= this.bound;
		}

	}

}
