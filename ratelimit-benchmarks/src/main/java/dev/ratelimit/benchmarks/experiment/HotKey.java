package dev.ratelimit.benchmarks.experiment;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import dev.ratelimit.benchmarks.chaos.ProxiedNodes;
import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.lab.Ceiling;
import dev.ratelimit.benchmarks.lab.LabResult;
import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;
import dev.ratelimit.testing.RedisCluster;

/**
 * Experiment 3: one hot key to saturation, then in parts, on a cluster. Two processors
 * cannot show that several nodes count more than one, so each node has a proxy of little
 * bandwidth. Costs are mixed: checks of equal cost share an entry, which would hide the
 * saturation.
 */
final class HotKey implements Experiment {

	private static final String BANDWIDTH = "200KB";

	private static final double COSTLY = 0.3;

	private static final int INSTANCES = 3;

	private static final String OUT_OF_REACH = "90000000/m";

	/** Permits per second of the limited runs; parts have to fit the highest cost. */
	private static final int PERMITS = 1_000;

	/** Mean cost: 70 % cost 1, the others 5 to 50. */
	private static final double MEAN_COST = 1 - COSTLY + COSTLY * 27.5;

	private static final double DECIDED = 0.95;

	/**
	 * A packet takes milliseconds on such a network, so the usual 20 ms are too short.
	 */
	private static final int DEADLINE_MILLIS = 100;

	@Override
	public LabResult run(Setting setting) throws Exception {
		List<Integer> parts = setting.quick() ? List.of(1, 4) : List.of(1, 2, 4, 8);
		int turns = setting.of(3, 1);
		Table table = new Table(
				String.format(
						"One key of mixed costs, %d instances, strict, each node limited to %s/s in each direction:",
						INSTANCES, BANDWIDTH),
				List.of("parts", "checks/s before saturation", "of one part's", "permits got of the limit",
						"admitted ÷ (burst + rate × T)"));
		List<Verdict> verdicts = new ArrayList<>();
		List<double[]> points = new ArrayList<>();
		try (RedisCluster cluster = RedisCluster.start(Duration.ofSeconds(15));
				ProxiedNodes nodes = ProxiedNodes.beforeClusterOf("127.0.0.1:" + cluster.servers().get(0).port())) {
			String uri = "redis://127.0.0.1:" + nodes.nodes().get(0).port();
			double one = 0;
			for (int split : parts) {
				Setting.progress("experiment 3: %d of %s parts, at most %d s each", split, parts, 40 * turns);
				double ceiling = ceiling(setting, nodes, spec(uri, OUT_OF_REACH, split).withDeadline(DEADLINE_MILLIS),
						turns);
				one = (split == 1) ? ceiling : one;
				double[] limited = limited(setting, spec(uri, PERMITS + "/s", split).withDeadline(1_000));
				table.add(split, String.format("%,.0f", ceiling),
						(one > 0) ? String.format(Locale.ROOT, "%.2f", ceiling / one) : "",
						String.format(Locale.ROOT, "%.1f %%", 100 * limited[0]),
						String.format(Locale.ROOT, "%.3f", limited[1]));
				verdicts.add(Verdict.bound(split + " parts: admitted ≤ burst + rate × T", limited[1] <= 1,
						String.format(Locale.ROOT, "%.3f of it", limited[1])));
				points.add(new double[] { split, ceiling });
				cluster.flush();
			}
		}
		new Plot("Experiment 3: checks of one key before saturation", "parts", "checks/s").line("strict", points)
			.write(setting.folder().file("experiment-3.svg"));
		return new LabResult("Experiment 3: one hot key", Machine.describe("cluster of the bundled Redis"),
				List.of(table), verdicts, "the bandwidth of the nodes' proxies, which stands for their processors",
				List.of("Saturated: fewer than 95 % of the checks are decided by counters within 100 ms.",
						"Replication goes through the proxies too and takes a share of the bandwidth.",
						"A cost is taken from one part: what no single part has left is refused, even if all parts together have it."));
	}

	private static InstanceSpec spec(String uri, String quota, int split) {
		return InstanceSpec.of(uri, "strict", quota, INSTANCES).withSplit(split).inCluster();
	}

	private static double ceiling(Setting setting, ProxiedNodes nodes, InstanceSpec spec, int turns) throws Exception {
		return Setting.with(Collections.nCopies(INSTANCES, spec), (instances) -> {
			double[] ceilings = new double[turns];
			for (int turn = 0; turn < turns; turn++) {
				ceilings[turn] = Ceiling.search(300, setting.of(20_000, 2_000), setting.of(2, 0), (rate) -> {
					List<Outcomes> outcomes = InstanceProcess.run(instances,
							Order.hot(setting.of(4, 2), rate / INSTANCES, COSTLY), (start) -> {
								// Limiters load their scripts before.
								FailureModes.awaitMillis(start);
								nodes.change(null, Map.of("bandwidth", BANDWIDTH));
							});
					nodes.change(null, Map.of("bandwidth", "0B"));
					double degraded = outcomes.stream().mapToDouble(Outcomes::degradedShare).average().orElse(1);
					return 1 - degraded >= DECIDED;
				});
			}
			Arrays.sort(ceilings);
			return ceilings[(turns - 1) / 2];
		});
	}

	/** At one and a half times the limit: share that it got, and share of the bound. */
	private static double[] limited(Setting setting, InstanceSpec spec) throws Exception {
		int seconds = setting.of(10, 4);
		return Setting.with(Collections.nCopies(INSTANCES, spec), (instances) -> {
			List<Outcomes> outcomes = InstanceProcess.run(instances,
					Order.hot(seconds, 1.5 * PERMITS / MEAN_COST / INSTANCES, COSTLY), (start) -> {
					});
			double all = outcomes.stream().mapToLong((each) -> each.admitted(0, 0, seconds)).sum();
			double later = outcomes.stream().mapToLong((each) -> each.admitted(0, Accuracy.SETTLED, seconds)).sum();
			// Due in the last second, but decided up to the deadline later.
			double got = later / (PERMITS * (seconds - (double) Accuracy.SETTLED));
			return new double[] { got, all / (PERMITS * (seconds + 2.0)) };
		});
	}

}
