package dev.ratelimit.benchmarks.peers;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import org.jspecify.annotations.Nullable;

/**
 * A number that is promised: how one result compares with another, both of the same run.
 *
 * @param key its name in the JSON
 * @param must what has to be reached
 * @param aim what is hoped for
 * @param atMost whether less is better
 * @param ours the result that is judged, as "contender/workload"
 * @param peer the result it is compared with, {@code null} if it stands for itself
 * @param number what is compared
 */
record Ratio(String key, double must, double aim, boolean atMost, String ours, @Nullable String peer,
		ToDoubleFunction<Measurement> number) {

	static List<Ratio> all() {
		return List.of(faster("strict-vs-scg-256", 4, 6, "ours-strict/random-256", "scg/random-256"),
				faster("strict-vs-scg-static-256", 2.2, 3, "ours-strict/random-256", "scg-static/random-256"),
				faster("strict-hot-vs-scg-256", 8, 20, "ours-strict/hot-256", "scg/hot-256"),
				faster("strict-hot-vs-bucket4j-batching-256", 0.8, 1.2, "ours-strict/hot-256",
						"bucket4j-batching/hot-256"),
				faster("strict-vs-raw-evalsha-256", 1.3, 2, "ours-strict/random-256", "raw-evalsha/random-256"),
				faster("composite-vs-scg-256", 1.5, 2.5, "ours-strict-3x2/random-256", "scg/random-256"),
				new Ratio("p50-1-vs-raw-evalsha", 1.2, 1.1, true, "ours-strict/random-1", "raw-evalsha/random-1",
						Measurement::p50Micros),
				faster("leased-vs-strict", 30, 100, "ours-leased-3x2/hundred-256", "ours-strict-3x2/hundred-256"),
				new Ratio("leased-p99-micros", 50, 5, true, "ours-leased-3x2/hundred-256", null,
						Measurement::p99Micros),
				faster("refused-vs-strict", 30, 100, "ours-refused-3x2/hundred-256", "ours-strict-3x2/hundred-256"));
	}

	private static Ratio faster(String key, double must, double aim, String ours, String peer) {
		return new Ratio(key, must, aim, false, ours, peer, Measurement::throughput);
	}

	/**
	 * The value, {@code null} if a result it needs was not measured or is not sound: an
	 * open breaker is very fast.
	 */
	@Nullable Double value(Map<String, Measurement> results) {
		Measurement ours = sound(results.get(this.ours));
		if (this.peer == null) {
			return (ours != null) ? this.number.applyAsDouble(ours) : null;
		}
		Measurement peer = sound(results.get(this.peer));
		return (ours != null && peer != null) ? this.number.applyAsDouble(ours) / this.number.applyAsDouble(peer)
				: null;
	}

	private static @Nullable Measurement sound(@Nullable Measurement result) {
		return (result != null && result.sound()) ? result : null;
	}

	String verdict(double value) {
		if (this.atMost ? value <= this.aim : value >= this.aim) {
			return "aim";
		}
		return (this.atMost ? value <= this.must : value >= this.must) ? "ok" : "MISSED";
	}

	String bound(double bound) {
		return (this.atMost ? "<= " : ">= ") + String.format(Locale.ROOT, "%.1f", bound);
	}

}
