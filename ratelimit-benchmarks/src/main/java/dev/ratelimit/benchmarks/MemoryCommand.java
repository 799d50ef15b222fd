package dev.ratelimit.benchmarks;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RunOptions;

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

	private static final int COUNTERS = 1_000_000;

	/** Fills the hash tables, which have a power of two of places, to the same degree. */
	private static final int QUICK_COUNTERS = COUNTERS / 8;

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--counters", paramLabel = "N", description = "Counters per case (default: 1000000, quick 125000).")
	private @Nullable Integer counters;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		int number = (this.counters != null) ? this.counters : this.options.quick() ? QUICK_COUNTERS : COUNTERS;
		try (MeasuredRedis redis = this.options.openRedis()) {
			RedisMemory memory = new RedisMemory(redis);
			List<Result> results = new ArrayList<>();
			for (MemoryCase each : MemoryCase.all()) {
				results.add(new Result(each.name(), memory.bytesPerCounter(each, number), each.bound()));
			}
			Report report = new Report(redis.toString(), redis.allocator(), number, results);
			report.print(this.spec.commandLine().getOut());
			this.options.write(report);
			return report.kept() ? 0 : 1;
		}
	}

	/**
	 * All results of one server.
	 *
	 * @param redis version, allocator and origin
	 * @param allocator its allocator; the bounds are promised for the jemalloc that comes
	 * with Redis 7.0; the system's rounds to larger sizes
	 * @param counters how many were made per case
	 * @param results in the order of the cases
	 */
	record Report(String redis, String allocator, int counters, List<Result> results) {

		boolean kept() {
			return !judged() || this.results.stream().allMatch(Result::within);
		}

		private boolean judged() {
			return this.allocator.equals("jemalloc-5.2.1");
		}

		void print(PrintWriter out) {
			out.printf("%nBytes per counter, everything included, at %,d counters on %s%n%n", this.counters,
					this.redis);
			out.printf("| %-41s | %7s | %-11s |%n", "counter", "bytes", "bound");
			out.printf("|%s|%s:|%s|%n", "-".repeat(43), "-".repeat(8), "-".repeat(13));
			for (Result result : this.results) {
				out.printf("| %-41s | %7.1f | %-11s |%n", result.name(), result.bytes(), verdict(result));
			}
			if (!judged()) {
				out.printf("%nNot judged: the bounds are those of jemalloc 5.2.1 as Redis 7.0 brings it, "
						+ "and this server has %s. Measure another with --redis URI.%n", this.allocator);
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
