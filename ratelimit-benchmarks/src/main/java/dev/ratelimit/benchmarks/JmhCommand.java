package dev.ratelimit.benchmarks;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.Main;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

import dev.ratelimit.benchmarks.common.Goal;
import dev.ratelimit.benchmarks.common.Median;
import dev.ratelimit.benchmarks.common.RunOptions;

/**
 * The benchmarks of what happens within a process, always with the bytes that an
 * operation allocates. All other options go to JMH; {@code --redis} has no effect, as the
 * counters are in memory.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh --quick}
 */
@Command(name = "jmh", description = "Benchmarks within the process, with the bytes allocated. Takes JMH's options "
		+ "(jmh -l lists the benchmarks); quick runs the leased check of three limits.")
final class JmhCommand implements Callable<Integer> {

	/** A check of three leased limits of two quotas each. */
	private static final String LEASED_CHECK = "CheckBenchmark.threeLeased";

	private static final Goal LEASED_CHECK_BYTES = Goal.atMost("leased-check-bytes", 400, 200);

	private static final String BYTES = "gc.alloc.rate.norm";

	private static final TimeValue QUICK_TIME = TimeValue.seconds(2);

	@Mixin
	private RunOptions options = new RunOptions();

	@Unmatched
	private List<String> arguments = new ArrayList<>();

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException, RunnerException, CommandLineOptionException {
		String[] rest = this.arguments.toArray(String[]::new);
		CommandLineOptions given = new CommandLineOptions(rest);
		if (given.shouldHelp() || given.shouldList() || given.shouldListWithParams() || given.shouldListProfilers()
				|| given.shouldListResultFormats()) {
			Main.main(rest);
			return 0;
		}
		Report report = Report.of(new Runner(all(given).build()).run());
		report.print(this.spec.commandLine().getOut());
		this.options.write(report);
		return (report.leasedCheckBytes() == null || LEASED_CHECK_BYTES.kept(report.leasedCheckBytes())) ? 0 : 1;
	}

	private ChainedOptionsBuilder all(CommandLineOptions given) {
		ChainedOptionsBuilder all = new OptionsBuilder().parent(given);
		if (given.getProfilers().stream().noneMatch((profiler) -> profiler.getKlass().equals("gc"))) {
			all.addProfiler(GCProfiler.class);
		}
		if (this.options.quick()) {
			all.warmupIterations(2).warmupTime(QUICK_TIME).measurementIterations(3).measurementTime(QUICK_TIME);
			if (given.getIncludes().isEmpty()) {
				all.include(LEASED_CHECK);
			}
		}
		return all;
	}

	/**
	 * All results of one run.
	 *
	 * @param leasedCheckBytes bytes allocated by a check of three leased limits of two
	 * quotas each, {@code null} if it was not measured
	 * @param results of all benchmarks
	 */
	record Report(@Nullable Double leasedCheckBytes, List<Row> results) {

		static Report of(Collection<RunResult> runs) {
			List<Row> results = runs.stream().map(Row::of).toList();
			Double bytes = results.stream()
				.filter((result) -> result.name().startsWith(LEASED_CHECK))
				.map(Row::bytes)
				.findFirst()
				.orElse(null);
			return new Report(bytes, results);
		}

		void print(PrintWriter out) {
			out.printf("%n| %-50s | %12s | %-6s | %10s |%n", "operation", "score", "unit", "bytes");
			out.printf("|%s|%s:|%s|%s:|%n", "-".repeat(52), "-".repeat(13), "-".repeat(8), "-".repeat(11));
			for (Row result : this.results) {
				out.printf(Locale.ROOT, "| %-50s | %,12.3f | %-6s | %,10.1f |%n", result.name(), result.score(),
						result.unit(), result.bytes());
			}
			out.println("bytes: allocated per operation.");
			if (this.leasedCheckBytes != null) {
				out.println();
				Goal.printHeader(out);
				LEASED_CHECK_BYTES.print(out, Median.of(this.leasedCheckBytes));
			}
			out.flush();
		}

	}

	/**
	 * One benchmark.
	 *
	 * @param name class, method and parameters
	 * @param score as JMH says it
	 * @param error half of the score's interval
	 * @param unit of the score
	 * @param bytes allocated per operation
	 */
	record Row(String name, double score, double error, String unit, double bytes) {

		static Row of(RunResult run) {
			double bytes = run.getSecondaryResults()
				.keySet()
				.stream()
				.filter((key) -> key.endsWith(BYTES))
				.mapToDouble((key) -> score(run, key))
				.findFirst()
				.orElse(Double.NaN);
			return new Row(name(run.getParams()), run.getPrimaryResult().getScore(),
					run.getPrimaryResult().getScoreError(), run.getPrimaryResult().getScoreUnit(), bytes);
		}

		private static double score(RunResult run, String key) {
			Result<?> result = run.getSecondaryResults().get(key);
			return (result != null) ? result.getScore() : Double.NaN;
		}

		private static String name(BenchmarkParams params) {
			String full = params.getBenchmark();
			String method = full.substring(full.lastIndexOf('.', full.lastIndexOf('.') - 1) + 1);
			String values = params.getParamsKeys()
				.stream()
				.map((key) -> key + "=" + params.getParam(key))
				.collect(Collectors.joining(", "));
			return values.isEmpty() ? method : method + " (" + values + ")";
		}

	}

}
