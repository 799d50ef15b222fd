package dev.ratelimit.benchmarks.experiment;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.lab.LabResult;
import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;

/**
 * Experiment 2: the time between lease calls is swept, and the size of a lease with it,
 * which is rate × time. Longer leases cost Redis less and are less exact.
 */
final class LeaseSweep implements Experiment {

	private static final int PERMITS = Accuracy.PERMITS;

	private static final double EXPIRY_SECONDS = 1;

	@Override
	public LabResult run(Setting setting) throws Exception {
		int instances = 2;
		int callers = setting.of(20, 4);
		List<Integer> swept = setting.quick() ? List.of(50, 200, 800) : List.of(20, 50, 100, 200, 400, 800);
		int turns = setting.of(3, 1);
		Order order = new Order(1, setting.of(20, 4), callers, 1.5 * PERMITS / instances, callers,
				0.8 * PERMITS / instances, 0, 0, 0);
		List<Point> points = new ArrayList<>();
		String machine;
		String bottleneck;
		try (MeasuredRedis redis = setting.options().openRedis()) {
			machine = Setting.machine(redis);
			Watch watch = new Watch(redis);
			String uri = redis.uri().toURI().toString();
			for (int refresh : swept) {
				Setting.progress("experiment 2: a lease call every %d ms, %d turns of %d s", refresh, turns,
						order.seconds());
				InstanceSpec spec = InstanceSpec.of(uri, "leased", PERMITS + "/s", instances)
					.withRefresh(refresh)
					.withDeadline(1_000);
				points.add(Setting.with(Collections.nCopies(instances, spec), (all) -> {
					List<Point> measured = new ArrayList<>();
					for (int turn = 0; turn < turns; turn++) {
						redis.flush();
						long before = redis.scriptCalls();
						List<Outcomes> outcomes = InstanceProcess.run(all, order, (start) -> {
						});
						outcomes.forEach((each) -> watch.add(each.cpuSeconds()));
						measured.add(Point.of(refresh, order, outcomes, redis.scriptCalls() - before));
					}
					return Point.median(measured);
				}));
			}
			bottleneck = watch.bottleneck();
		}
		int knee = Knee
			.of(points.stream().map((point) -> new double[] { point.callsPerSecond(), point.error() }).toList());
		Table table = new Table(String.format(Locale.ROOT,
				"%d callers at 1.5 times their limit of %d/s and %d at 0.8 times, over %d instances, medians of %d turns:",
				callers, PERMITS, callers, instances, turns),
				List.of("lease call every", "size of a lease", "script calls/s", "got above the limit",
						"refused within the limit", "most above burst + rate × T", "degraded", ""));
		List<Verdict> verdicts = new ArrayList<>();
		for (int i = 0; i < points.size(); i++) {
			Point point = points.get(i);
			table.add(point.refreshMillis() + " ms",
					String.format(Locale.ROOT, "%.0f", PERMITS / instances * point.refreshMillis() / 1e3),
					String.format(Locale.ROOT, "%,.0f", point.callsPerSecond()), percent(point.got()),
					percent(point.refusedWithin()), String.format(Locale.ROOT, "%.0f", point.above()),
					percent(point.degraded()), (i == knee) ? "**knee**" : "");
			// Due in the last second, but decided up to the deadline later.
			verdicts.add(Verdict.bound(point.refreshMillis() + " ms: admitted ≤ burst + rate × (T + lease expiry)",
					point.above() <= PERMITS * (EXPIRY_SECONDS + 1),
					String.format(Locale.ROOT, "%.0f above burst + rate × T", point.above())));
		}
		new Plot("Experiment 2: accuracy against the load of Redis", "script calls/s", "error, % of the rate")
			.line("20 to 800 ms",
					points.stream()
						.map((point) -> new double[] { point.callsPerSecond(), 100 * point.error() })
						.sorted((a, b) -> Double.compare(a[0], b[0]))
						.toList())
			.write(setting.folder().file("experiment-2.svg"));
		return new LabResult("Experiment 2: size and time of leases", machine, List.of(table), verdicts, bottleneck,
				List.of("Error: what callers above their limit do not get, and what callers within it are refused.",
						"Knee: the point with the largest distance to the line from the first to the last."));
	}

	private static String percent(double share) {
		return String.format(Locale.ROOT, "%.2f %%", 100 * share);
	}

	/**
	 * What one setting gave.
	 *
	 * @param got share of the rate that callers above it got, after the burst
	 * @param refusedWithin share of the checks within the limit
	 * @param above admissions above burst + rate × T, of the caller with the most
	 */
	private record Point(int refreshMillis, double callsPerSecond, double got, double refusedWithin, double above,
			double degraded) {

		static Point of(int refresh, Order order, List<Outcomes> outcomes, long calls) {
			int rest = order.seconds() - Accuracy.SETTLED;
			double sum = 0;
			double above = Double.NEGATIVE_INFINITY;
			for (int key = 0; key < order.over(); key++) {
				int caller = key;
				sum += outcomes.stream()
					.mapToLong((each) -> each.admitted(caller, Accuracy.SETTLED, order.seconds()))
					.sum();
				long all = outcomes.stream().mapToLong((each) -> each.admitted(caller, 0, order.seconds())).sum();
				above = Math.max(above, all - PERMITS * (1.0 + order.seconds()));
			}
			long within = outcomes.stream().mapToLong(Outcomes::checksWithin).sum();
			long refused = outcomes.stream().mapToLong(Outcomes::refusedWithin).sum();
			return new Point(refresh, (double) calls / order.seconds(), sum / order.over() / (PERMITS * (double) rest),
					(double) refused / Math.max(1, within), above,
					outcomes.stream().mapToDouble(Outcomes::degradedShare).average().orElse(0));
		}

		static Point median(List<Point> turns) {
			return turns.stream()
				.sorted((a, b) -> Double.compare(a.error(), b.error()))
				.skip((turns.size() - 1) / 2)
				.findFirst()
				.orElseThrow();
		}

		double error() {
			return Math.max(0, 1 - this.got) + this.refusedWithin;
		}

	}

}
