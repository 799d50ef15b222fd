package dev.ratelimit.benchmarks.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;
import java.util.function.ToDoubleFunction;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.common.Goal;
import dev.ratelimit.benchmarks.common.Median;

/**
 * A number of one run that users ask for: how one result compares with another, round by
 * round.
 *
 * @param goal its name and its bounds
 * @param number what is compared
 * @param first a result, as "contender/workload"
 * @param second the other result, {@code null} if the first stands for itself
 * @param comparison of the two
 */
record Ratio(Goal goal, ToDoubleFunction<Measurement> number, String first, @Nullable String second,
		DoubleBinaryOperator comparison) {

	static List<Ratio> all() {
		return List.of(redis(Goal.atLeast("redis-cpu-raw-evalsha-vs-strict-256", 1.9, 2.3), "existing-256"),
				redis(Goal.reported("redis-cpu-raw-evalsha-vs-strict-lapsed-256"), "lapsed-256"),
				new Ratio(Goal.atLeast("all-cpu-scg-vs-composite-256", 2, 2.5), Measurement::allCpuMicros,
						"scg/existing-256", "ours-strict-3x2/existing-256", Ratio::quotient),
				new Ratio(Goal.reported("redis-micros-above-incrby-256"), Measurement::redisCpuMicros,
						"ours-strict/existing-256", "raw-incrby/existing-256", (ours, incrby) -> ours - incrby),
				faster(Goal.atLeast("strict-vs-raw-evalsha-256", 1.8, 2.3), "ours-strict/existing-256",
						"raw-evalsha/existing-256"),
				faster(Goal.reported("strict-vs-raw-evalsha-lapsed-256"), "ours-strict/lapsed-256",
						"raw-evalsha/lapsed-256"),
				faster(Goal.atLeast("strict-hot-vs-bucket4j-batching-256", 1, 1.3), "ours-strict/hot-256",
						"bucket4j-batching/hot-256"),
				faster(Goal.reported("strict-vs-scg-256"), "ours-strict/existing-256", "scg/existing-256"),
				faster(Goal.reported("strict-vs-scg-static-256"), "ours-strict/existing-256",
						"scg-static/existing-256"),
				faster(Goal.reported("strict-hot-vs-scg-256"), "ours-strict/hot-256", "scg/hot-256"),
				faster(Goal.reported("composite-vs-scg-256"), "ours-strict-3x2/existing-256", "scg/existing-256"),
				new Ratio(new Goal("p50-1-vs-raw-evalsha", null, 1.05, true), Measurement::p50Micros,
						"ours-strict/existing-1", "raw-evalsha/existing-1", Ratio::quotient),
				itself(new Goal("strict-p99-half-rate-micros", 1_000.0, null, true), "ours-strict/existing-half"),
				itself(Goal.atMost("leased-p99-micros", 50, 5), "ours-leased-3x2/hundred-256"),
				faster(Goal.atLeast("leased-vs-strict", 30, 100), "ours-leased-3x2/hundred-256",
						"ours-strict-3x2/hundred-256"),
				faster(Goal.atLeast("refused-vs-strict", 30, 100), "ours-refused-3x2/hundred-256",
						"ours-strict-3x2/hundred-256"));
	}

	private static Ratio redis(Goal goal, String workload) {
		return new Ratio(goal, Measurement::redisCpuMicros, "raw-evalsha/" + workload, "ours-strict/" + workload,
				Ratio::quotient);
	}

	private static Ratio faster(Goal goal, String ours, String peer) {
		return new Ratio(goal, Measurement::throughput, ours, peer, Ratio::quotient);
	}

	private static Ratio itself(Goal goal, String result) {
		return new Ratio(goal, Measurement::p99Micros, result, null, (first, second) -> first);
	}

	private static double quotient(double first, double second) {
		return first / second;
	}

	/**
	 * The median over the rounds, {@code null} if a result it needs was not measured or
	 * is not sound: an open breaker is very fast.
	 * @param rounds the measurements of each result, in the order of the rounds
	 */
	@Nullable Median value(Map<String, List<Measurement>> rounds) {
		List<Measurement> first = rounds.getOrDefault(this.first, List.of());
		List<Measurement> second = (this.second != null) ? rounds.getOrDefault(this.second, List.of()) : first;
		List<Double> values = new ArrayList<>();
		for (int i = 0; i < Math.min(first.size(), second.size()); i++) {
			if (first.get(i).sound() && second.get(i).sound()) {
				values.add(this.comparison.applyAsDouble(this.number.applyAsDouble(first.get(i)),
						this.number.applyAsDouble(second.get(i))));
			}
		}
		return values.isEmpty() ? null : Median.of(values);
	}

}
