package dev.ratelimit.benchmarks.peers;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * All results of one run.
 *
 * @param environment what they were measured on
 * @param results medians over the rounds
 * @param ratios by their keys, {@code null} where a result is missing
 * @param rounds every single measurement
 */
record Report(Environment environment, List<Measurement> results, Map<String, @Nullable Double> ratios,
		List<Measurement> rounds) {

	static Report of(Environment environment, List<Measurement> rounds) {
		Map<String, List<Measurement>> grouped = new LinkedHashMap<>();
		rounds.forEach(
				(each) -> grouped.computeIfAbsent(each.contender() + "/" + each.workload(), (key) -> new ArrayList<>())
					.add(each));
		Map<String, Measurement> results = new LinkedHashMap<>();
		grouped.forEach((key, list) -> results.put(key, Measurement.median(list)));
		Map<String, @Nullable Double> ratios = new LinkedHashMap<>();
		Ratio.all().forEach((ratio) -> ratios.put(ratio.key(), ratio.value(results)));
		return new Report(environment, List.copyOf(results.values()), ratios, rounds);
	}

	void print(PrintWriter out) {
		Environment on = this.environment;
		out.printf(Locale.ROOT,
				"%nMedians of %d; Redis %s, Java %s, %d cores; load average %.1f before and %.1f after%n%n",
				on.rounds(), on.redis(), on.java(), on.cores(), on.loadBefore(), on.loadAfter());
		printResults(out);
		out.println();
		printRatios(out);
		out.flush();
	}

	private void printResults(PrintWriter out) {
		out.printf("| %-17s | %-26s | %11s | %9s | %9s | %9s | %9s | %8s | %5s | %5s |%n", "contender", "workload",
				"checks/s", "p50 µs", "p99 µs", "p99.9 µs", "client µs", "Redis µs", "other", "steal");
		out.printf("|%s|%s|%s:|%s:|%s:|%s:|%s:|%s:|%s:|%s:|%n", "-".repeat(19), "-".repeat(28), "-".repeat(12),
				"-".repeat(10), "-".repeat(10), "-".repeat(10), "-".repeat(10), "-".repeat(9), "-".repeat(6),
				"-".repeat(6));
		for (Measurement each : this.results) {
			out.printf(Locale.ROOT,
					"| %-17s | %-26s | %,11.0f | %,9.1f | %,9.1f | %,9.1f | %9.2f | %8.2f | %5.1f | %4.0f%% |%s%n",
					each.contender(), Workload.parse(each.workload()), each.throughput(), each.p50Micros(),
					each.p99Micros(), each.p999Micros(), each.clientCpuMicros(), each.redisCpuMicros(),
					each.otherCores(), 100 * each.stolenShare(), remark(each));
		}
		out.println("client and Redis: processor time per check; other: processors that worked for anything else.");
	}

	private static String remark(Measurement each) {
		return each.sound() ? "" : String.format(Locale.ROOT, " NOT SOUND: %.1f %% allowed, %.1f %% failed",
				100 * each.allowedShare(), 100 * each.failedShare());
	}

	private void printRatios(PrintWriter out) {
		out.printf("| %-36s | %8s | %-8s | %-8s | %-6s |%n", "ratio", "measured", "must", "aim", "");
		out.printf("|%s|%s:|%s|%s|%s|%n", "-".repeat(38), "-".repeat(9), "-".repeat(10), "-".repeat(10), "-".repeat(8));
		for (Ratio ratio : Ratio.all()) {
			Double value = this.ratios.get(ratio.key());
			if (value != null) {
				out.printf(Locale.ROOT, "| %-36s | %8.2f | %-8s | %-8s | %-6s |%n", ratio.key(), value,
						ratio.bound(ratio.must()), ratio.bound(ratio.aim()), ratio.verdict(value));
			}
		}
	}

	/**
	 * What was measured on.
	 *
	 * @param redis version of the server
	 * @param java version of the JVM
	 * @param cores processors of this machine
	 * @param loadBefore load average before anything ran
	 * @param loadAfter and at the end, which is mostly the benchmark's own
	 * @param rounds how often everything was measured; fewer than asked for if time was
	 * up
	 * @param seconds how long each measurement took
	 */
	record Environment(String redis, String java, int cores, double loadBefore, double loadAfter, int rounds,
			double seconds) {
	}

}
