package dev.ratelimit.benchmarks.grpc;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import dev.ratelimit.benchmarks.common.Goal;
import dev.ratelimit.benchmarks.common.Median;

/**
 * All results of one run, as they are written to the JSON.
 *
 * @param goals the reported numbers
 * @param environment what was measured on
 * @param results medians over the rounds
 * @param rounds every single measurement
 */
record Report(Map<String, Double> goals, Environment environment, List<Measurement> results,
		List<List<Measurement>> rounds) {

	private static final Goal LEASED = new Goal("many-leased-per-second", null, 100_000.0, false);

	/**
	 * Makes the report.
	 * @param rounds measurements of each case, one list per case
	 */
	static Report of(Environment environment, List<List<Measurement>> rounds) {
		Map<String, Double> goals = new LinkedHashMap<>();
		for (List<Measurement> each : rounds) {
			if (each.get(0).id().equals(Case.MANY_LEASED.id())) {
				goals.put(LEASED.key(), throughput(each).value());
			}
		}
		return new Report(goals, environment, rounds.stream().map(Measurement::median).toList(), rounds);
	}

	private static Median throughput(List<Measurement> rounds) {
		return Median.of(rounds.stream().map(Measurement::throughput).toList());
	}

	boolean passed() {
		return this.results.stream().allMatch(Measurement::sound);
	}

	void print(PrintWriter out) {
		Environment on = this.environment;
		out.printf(Locale.ROOT, "%nMedians of %d rounds of %.1f s; %s; Java %s, %d cores; load average %.1f before%n%n",
				on.rounds(), on.seconds(), on.redis(), on.java(), on.cores(), on.loadBefore());
		out.println("| one connection | checks/s | p50 µs | p99 µs | client µs | server µs | Redis µs | other cores |");
		out.println("|---|---:|---:|---:|---:|---:|---:|---:|");
		for (Measurement each : this.results) {
			out.printf(Locale.ROOT, "| %s | %,.0f | %,.0f | %,.0f | %.1f | %.1f | %.1f | %.1f |%s%n", text(each.id()),
					each.throughput(), each.p50Micros(), each.p99Micros(), each.clientCpuMicros(),
					each.serverCpuMicros(), each.redisCpuMicros(), each.otherCores(), each.sound() ? ""
							: String.format(Locale.ROOT, " NOT SOUND: %.1f %% allowed", 100 * each.allowedShare()));
		}
		out.println("client, server, Redis: processor time per check; other cores: processors that worked for others.");
		List<List<Measurement>> judged = new ArrayList<>(this.rounds);
		judged.removeIf((each) -> !each.get(0).id().equals(Case.MANY_LEASED.id()));
		if (!judged.isEmpty()) {
			out.println();
			Goal.printHeader(out);
			judged.forEach((each) -> LEASED.print(out, throughput(each)));
		}
		out.flush();
	}

	private static String text(String id) {
		return Case.all().stream().filter((each) -> each.id().equals(id)).findFirst().orElseThrow().text();
	}

	/**
	 * What was measured on.
	 *
	 * @param loadBefore load average before anything ran
	 * @param seconds time of one measurement
	 */
	record Environment(String redis, String java, int cores, double loadBefore, int rounds, double seconds) {
	}

}
