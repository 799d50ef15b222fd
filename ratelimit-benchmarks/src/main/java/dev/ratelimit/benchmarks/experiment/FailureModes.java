package dev.ratelimit.benchmarks.experiment;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.lab.LabResult;
import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.Network;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;

/**
 * Experiment 4: three instances, one for each failure mode, while Redis is slow, then
 * dead, and back; and a cluster of which a primary is killed.
 */
final class FailureModes implements Experiment {

	static final List<String> MODES = List.of("allow", "deny", "local");

	static final int PERMITS = 50;

	private static final double OVER = 1.5;

	private static final double WITHIN = 0.5;

	private static final int CALLERS = 4;

	/** Each mode has callers of its own. */
	private static final int APART = 1_000;

	@Override
	public LabResult run(Setting setting) throws Exception {
		List<Table> tables = new ArrayList<>();
		List<Verdict> verdicts = new ArrayList<>();
		Plot plot = new Plot("Experiment 4: p99 of a decision while Redis is slow, then dead", "seconds", "µs");
		String machine;
		String bottleneck;
		try (MeasuredRedis redis = setting.options().openRedis();
				ChaosProxy proxy = ChaosProxy.before(redis.uri().getHost(), redis.uri().getPort())) {
			machine = Setting.machine(redis);
			Watch watch = new Watch(redis);
			outage(setting, watch, proxy, tables, verdicts, plot);
			bottleneck = watch.bottleneck();
		}
		plot.write(setting.folder().file("experiment-4.svg"));
		new Failover(setting).run(tables, verdicts);
		return new LabResult("Experiment 4: failure modes", machine, tables, verdicts, bottleneck,
				List.of("Processors are those of the first part, before the fail-over.",
						"Dead: every connection is reset, and new ones are refused. Slow: every reply is 50 ms late."));
	}

	private static void outage(Setting setting, Watch watch, ChaosProxy proxy, List<Table> tables,
			List<Verdict> verdicts, Plot plot) throws Exception {
		List<Phase> phases = phases(setting);
		Order order = order(phases.get(phases.size() - 1).to());
		List<Outcomes> outcomes = Setting.with(specs(proxy.uri().toURI().toString(), false),
				(instances) -> watch.during(() -> InstanceProcess.run(instances, order, (start) -> {
					for (Phase phase : phases) {
						awaitMillis(start + phase.from() * 1_000L);
						Setting.progress("experiment 4: Redis %s until second %d of %d", phase.name(), phase.to(),
								order.seconds());
						phase.fault().inject(proxy);
					}
				})));
		Table table = new Table(String.format(Locale.ROOT,
				"%,.0f checks/s each; half of the callers at %.1f times their limit of %d/s, half at %.1f times:",
				order.rate(), OVER, PERMITS, WITHIN),
				List.of("Redis", "mode", "degraded", "p99 µs", "worst second", "first degraded after",
						"breaker open after", "leaked: above burst + rate × T"));
		for (int mode = 0; mode < MODES.size(); mode++) {
			Outcomes each = outcomes.get(mode);
			for (Phase phase : phases) {
				add(table, phase, MODES.get(mode), order, each);
			}
			verdicts.add(Verdict.bound(MODES.get(mode) + ": no error", each.errors() == 0, each.errors() + " errors"));
			plot.line(MODES.get(mode), points(each));
		}
		tables.add(table);
		Table refused = new Table("Callers within their limit, over all phases:",
				List.of("mode", "checks", "refused by counters", "refused by the failure mode"));
		for (int mode = 0; mode < MODES.size(); mode++) {
			Outcomes each = outcomes.get(mode);
			refused.add(MODES.get(mode), each.checksWithin(), each.refusedWithin(), each.degradedWithin());
			verdicts.add(Verdict.bound(MODES.get(mode) + ": counters refuse no caller within its limit",
					each.refusedWithin() == 0, each.refusedWithin() + " refusals"));
		}
		verdicts.add(Verdict.bound("allow: the failure mode refuses nobody", outcomes.get(0).degradedWithin() == 0,
				outcomes.get(0).degradedWithin() + " refusals"));
		tables.add(refused);
	}

	static Order order(int seconds) {
		return new Order(1, seconds, CALLERS, OVER * PERMITS, CALLERS, WITHIN * PERMITS, 0, 0, 0);
	}

	static List<InstanceSpec> specs(String uri, boolean cluster) {
		List<InstanceSpec> specs = new ArrayList<>();
		for (int mode = 0; mode < MODES.size(); mode++) {
			InstanceSpec spec = InstanceSpec.of(uri, "strict", PERMITS + "/s", 1)
				.withFailureMode(MODES.get(mode))
				.withFirstCaller(APART * mode);
			specs.add(cluster ? spec.inCluster() : spec);
		}
		return specs;
	}

	/** The breaker tries again after 5 to 6 s, so healthy phases are longer than that. */
	private static List<Phase> phases(Setting setting) {
		int healthy = setting.of(10, 2);
		int fault = setting.of(10, 2);
		int recovery = setting.of(20, 7);
		Fault heal = ChaosProxy::heal;
		List<Phase> phases = new ArrayList<>();
		phases.add(new Phase("healthy", 0, healthy, heal));
		int at = healthy;
		phases.add(new Phase("50 ms late", at, at += fault,
				(proxy) -> proxy.shape(new Network(ofMillis(50), ZERO, 0, 0))));
		phases.add(new Phase("healthy again", at, at += recovery, heal));
		phases.add(new Phase("dead", at, at += fault, ChaosProxy::refuse));
		phases.add(new Phase("back", at, at + recovery, heal));
		return phases;
	}

	private static void add(Table table, Phase phase, String mode, Order order, Outcomes outcomes) {
		List<Outcomes.Second> seconds = outcomes.bySecond().subList(phase.from(), phase.to());
		long all = seconds.stream().mapToLong(Outcomes.Second::all).sum();
		long degraded = seconds.stream().mapToLong(Outcomes.Second::degraded).sum();
		double[] p99 = seconds.stream().mapToDouble(Outcomes.Second::p99Micros).sorted().toArray();
		long leaked = 0;
		for (int key = 0; key < order.over(); key++) {
			long allowed = (long) PERMITS * (1 + phase.to() - phase.from());
			leaked += Math.max(0, outcomes.passed(key, phase.from(), phase.to()) - allowed);
		}
		table.add(phase.name(), mode, percent(degraded, all), String.format(Locale.ROOT, "%,.0f", p99[p99.length / 2]),
				String.format(Locale.ROOT, "%,.0f", p99[p99.length - 1]), after(phase, outcomes.degradedAtMillis()),
				after(phase, outcomes.openedAtMillis()), leaked);
	}

	private static String after(Phase phase, List<Long> times) {
		return times.stream()
			.filter((millis) -> millis >= phase.from() * 1_000L && millis < phase.to() * 1_000L)
			.findFirst()
			.map((millis) -> millis - phase.from() * 1_000L + " ms")
			.orElse("");
	}

	static String percent(long some, long all) {
		return String.format(Locale.ROOT, "%.2f %%", 100.0 * some / Math.max(1, all));
	}

	private static List<double[]> points(Outcomes outcomes) {
		List<double[]> points = new ArrayList<>();
		for (int second = 0; second < outcomes.bySecond().size(); second++) {
			points.add(new double[] { second + 1, outcomes.bySecond().get(second).p99Micros() });
		}
		return points;
	}

	static void awaitMillis(long time) {
		for (long left = time - System.currentTimeMillis(); left > 0; left = time - System.currentTimeMillis()) {
			LockSupport.parkNanos(left * 1_000_000);
		}
	}

	private interface Fault {

		void inject(ChaosProxy proxy);

	}

	/** A part of the run, in seconds after its start. */
	private record Phase(String name, int from, int to, Fault fault) {
	}

}
