package dev.ratelimit.benchmarks.peers;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * All results of one run over HTTP.
 *
 * @param results for each variant the round of median throughput
 * @param ratios how much of the throughput without a filter each of the others keeps
 * @param rounds every single measurement
 */
record GatewayReport(List<GatewayMeasurement> results, Map<String, Double> ratios, List<GatewayMeasurement> rounds) {

	static GatewayReport of(List<GatewayMeasurement> rounds) {
		Map<String, List<GatewayMeasurement>> grouped = new LinkedHashMap<>();
		rounds.forEach((each) -> grouped.computeIfAbsent(each.variant(), (key) -> new ArrayList<>()).add(each));
		Map<String, GatewayMeasurement> results = new LinkedHashMap<>();
		grouped.forEach((key, list) -> results.put(key, median(list)));
		Map<String, Double> ratios = new LinkedHashMap<>();
		GatewayMeasurement none = results.get(GatewayVariant.NONE.toString());
		results.forEach((key, result) -> {
			if (none != null && result != none && result.sound()) {
				ratios.put("gateway-kept-" + key, result.throughput() / none.throughput());
			}
		});
		return new GatewayReport(List.copyOf(results.values()), ratios, rounds);
	}

	private static GatewayMeasurement median(List<GatewayMeasurement> rounds) {
		List<GatewayMeasurement> sorted = new ArrayList<>(rounds);
		sorted.sort((one, other) -> Double.compare(one.throughput(), other.throughput()));
		return sorted.get(sorted.size() / 2);
	}

	void print(PrintWriter out) {
		out.printf("%n| %-11s | %10s | %9s | %9s | %9s | %10s | %8s | %5s |%n", "filter", "requests/s", "p50 µs",
				"p99 µs", "p99.9 µs", "gateway µs", "Redis µs", "kept");
		out.printf("|%s|%s:|%s:|%s:|%s:|%s:|%s:|%s:|%n", "-".repeat(13), "-".repeat(11), "-".repeat(10), "-".repeat(10),
				"-".repeat(10), "-".repeat(11), "-".repeat(9), "-".repeat(6));
		for (GatewayMeasurement each : this.results) {
			Double kept = this.ratios.get("gateway-kept-" + each.variant());
			out.printf(Locale.ROOT, "| %-11s | %,10.0f | %,9.0f | %,9.0f | %,9.0f | %10.1f | %8.1f | %5s |%s%n",
					each.variant(), each.throughput(), each.p50Micros(), each.p99Micros(), each.p999Micros(),
					each.gatewayCpuMicros(), each.redisCpuMicros(),
					(kept != null) ? String.format(Locale.ROOT, "%.2f", kept) : "", each.sound() ? "" : " NOT SOUND");
		}
		out.println("gateway and Redis: processor time per request.");
		out.flush();
	}

}
