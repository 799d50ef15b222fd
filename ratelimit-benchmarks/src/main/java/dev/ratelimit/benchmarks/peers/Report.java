package dev.ratelimit.benchmarks.peers;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.common.Goal;
import dev.ratelimit.benchmarks.common.Median;

/**
 * All results of one run.
 *
 * @param environment what they were measured on
 * @param results medians over the rounds
 * @param ratios by their keys, {@code null} where a result is missing
 * @param intervals of the ratios, with their number of rounds
 * @param rounds every single measurement
 */
record Report(Environment environment, List<Measurement> results, Map<String, @Nullable Double> ratios,
		Map<String, Median> intervals, List<Measurement> rounds) {

	static Report of(Environment environment, List<Measurement> rounds) {
		Map<String, List<Measurement>> grouped = new LinkedHashMap<>();
		rounds.forEach(
				(each) -> grouped.computeIfAbsent(each.contender() + "/" + each.workload(), (key) -> new ArrayList<>())
					.add(each));
		List<Measurement> results = grouped.values().stream().map(Measurement::median).toList();
		Map<String, @Nullable Double> ratios = new LinkedHashMap<>();
		Map<String, Median> intervals = new LinkedHashMap<>();
		for (Ratio ratio : Ratio.all()) {
			Median value = ratio.value(grouped);
			ratios.put(ratio.goal().key(), (value != null) ? value.value() : null);
			if (value != null) {
				intervals.put(ratio.goal().key(), value);
			}
		}
		return new Report(environment, results, ratios, intervals, rounds);
	}

	/** Whether all results are sound and every bound was kept. */
	boolean passed() {
		return this.results.stream().allMatch(Measurement::sound) && Ratio.all().stream().allMatch((ratio) -> {
			Double value = this.ratios.get(ratio.goal().key());
			return value == null || ratio.goal().kept(value);
		});
	}

	void print(PrintWriter out) {
		Environment on = this.environment;
		out.printf(Locale.ROOT,
				"%nMedians of %d; %s, Java %s, %d cores; deadline %.0f ms; load average %.1f before and %.1f after%n%n",
				on.rounds(), on.redis(), on.java(), on.cores(), on.deadlineMillis(), on.loadBefore(), on.loadAfter());
		printResults(out);
		out.println();
		Goal.printHeader(out);
		for (Ratio ratio : Ratio.all()) {
			Median value = this.intervals.get(ratio.goal().key());
			if (value != null) {
				ratio.goal().print(out, value);
			}
		}
		out.flush();
	}

	private void printResults(PrintWriter out) {
		out.printf("| %-17s | %-35s | %11s | %9s | %9s | %9s | %9s | %8s | %7s | %5s | %5s |%n", "contender",
				"workload", "checks/s", "p50 µs", "p99 µs", "p99.9 µs", "client µs", "Redis µs", "all µs", "other",
				"steal");
		out.printf("|%s|%s|%s:|%s:|%s:|%s:|%s:|%s:|%s:|%s:|%s:|%n", "-".repeat(19), "-".repeat(37), "-".repeat(12),
				"-".repeat(10), "-".repeat(10), "-".repeat(10), "-".repeat(10), "-".repeat(9), "-".repeat(8),
				"-".repeat(6), "-".repeat(6));
		for (Measurement each : this.results) {
			out.printf(Locale.ROOT,
					"| %-17s | %-35s | %,11.0f | %,9.1f | %,9.1f | %,9.1f | %9.2f | %8.2f | %7.2f | %5.1f | %4.0f%% |%s%n",
					each.contender(), Workload.parse(each.workload()), each.throughput(), each.p50Micros(),
					each.p99Micros(), each.p999Micros(), each.clientCpuMicros(), each.redisCpuMicros(),
					each.allCpuMicros(), each.otherCores(), 100 * each.stolenShare(), remark(each));
		}
		out.println("client, Redis, all: processor time per check; other: processors that worked for anything else.");
	}

	private static String remark(Measurement each) {
		return each.sound() ? "" : String.format(Locale.ROOT, " NOT SOUND: %.1f %% allowed, %.1f %% failed",
				100 * each.allowedShare(), 100 * each.failedShare());
	}

	/**
	 * What was measured on.
	 *
	 * @param redis version, allocator and origin of the server
	 * @param java version of the JVM
	 * @param cores processors of this machine
	 * @param loadBefore load average before anything ran
	 * @param loadAfter and at the end, which is mostly the benchmark's own
	 * @param rounds how often everything was measured; fewer than asked for if time was
	 * up
	 * @param seconds how long each measurement took
	 * @param deadlineMillis deadline of a check of ours
	 */
	record Environment(String redis, String java, int cores, double loadBefore, double loadAfter, int rounds,
			double seconds, double deadlineMillis) {
	}

}
