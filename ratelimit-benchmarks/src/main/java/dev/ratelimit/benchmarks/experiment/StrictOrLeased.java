package dev.ratelimit.benchmarks.experiment;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.Median;
import dev.ratelimit.benchmarks.lab.LabResult;
import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;

/**
 * Experiment 1: the same load on strict and on leased limits, in alternating turns.
 */
final class StrictOrLeased implements Experiment {

	private static final int CALLERS = 100;

	private static final double DEGRADED = 0.01;

	@Override
	public LabResult run(Setting setting) throws Exception {
		int turns = setting.of(10, 2);
		int seconds = setting.of(10, 1);
		// Half of the callers is above its limit of 100/s, half within.
		Order order = new Order(1, seconds, CALLERS / 2, setting.of(150, 30), CALLERS / 2, setting.of(50, 10), 0, 0, 0);
		String quota = setting.of(100, 20) + "/s";
		List<Outcomes> strict = new ArrayList<>();
		List<Outcomes> leased = new ArrayList<>();
		String machine;
		String bottleneck;
		List<Double> strictCalls = new ArrayList<>();
		List<Double> leasedCalls = new ArrayList<>();
		try (MeasuredRedis redis = setting.options().openRedis()) {
			machine = Setting.machine(redis);
			Watch watch = new Watch(redis);
			String uri = redis.uri().toURI().toString();
			Setting.with(List.of(InstanceSpec.of(uri, "strict", quota, 1), InstanceSpec.of(uri, "leased", quota, 1)),
					(instances) -> {
						for (int turn = 1; turn <= turns; turn++) {
							Setting.progress("experiment 1: turn %d of %d, about %d s left", turn, turns,
									(turns - turn + 1) * 2 * (seconds + 1));
							turn(watch, redis, instances.get(0), order, strict, strictCalls);
							turn(watch, redis, instances.get(1), order, leased, leasedCalls);
						}
						return turns;
					});
			bottleneck = watch.bottleneck();
		}
		Table table = new Table(
				String.format(Locale.ROOT, "%,.0f checks/s of %d callers, medians of %d turns of %d s:", order.rate(),
						CALLERS, turns, seconds),
				List.of("enforcement", "checks/s", "p50 µs", "p99 µs", "p99.9 µs", "in the process: p50, p99 µs",
						"in Redis: p50, p99 µs", "decided in the process", "script calls/s",
						"most above burst + rate × T", "degraded"));
		add(table, "strict", order, strict, strictCalls);
		add(table, "leased", order, leased, leasedCalls);
		new Plot("p99 of a decision", "turn", "µs").line("strict", points(strict))
			.line("leased", points(leased))
			.write(setting.folder().file("experiment-1.svg"));
		List<Verdict> verdicts = List.of(
				level("strict p50 below 0.4 ms", strict, (each) -> each.central().p50Micros(), 400),
				level("strict p99 below 1 ms", strict, (each) -> each.central().p99Micros(), 1_000),
				level("leased p99 below 50 µs", leased, (each) -> each.local().p99Micros(), 50),
				bound("strict", order, strict, 0), bound("leased", order, leased, 1));
		return new LabResult("Experiment 1: strict or leased", machine, List.of(table), verdicts, bottleneck, List.of(
				"Latencies of all checks count from the moment at which a check was due, and so have the sender's delays; "
						+ "those in the process and in Redis, which are judged, count from the call.",
				"A leased decision that waits for its lease has made a round trip: those are in the column of Redis."));
	}

	private static void turn(Watch watch, MeasuredRedis redis, InstanceProcess instance, Order order,
			List<Outcomes> outcomes, List<Double> calls) throws Exception {
		redis.flush();
		AtomicLong before = new AtomicLong();
		Outcomes outcome = watch
			.during(() -> InstanceProcess.run(List.of(instance), order, (start) -> before.set(redis.scriptCalls())))
			.get(0);
		outcomes.add(outcome);
		calls.add((redis.scriptCalls() - before.get()) / outcome.seconds());
	}

	private static void add(Table table, String name, Order order, List<Outcomes> outcomes, List<Double> calls) {
		table.add(name, number(outcomes, Outcomes::throughput), number(outcomes, Outcomes::p50Micros),
				number(outcomes, Outcomes::p99Micros), number(outcomes, Outcomes::p999Micros),
				number(outcomes, (each) -> each.local().p50Micros()) + ", "
						+ number(outcomes, (each) -> each.local().p99Micros()),
				number(outcomes, (each) -> each.central().p50Micros()) + ", "
						+ number(outcomes, (each) -> each.central().p99Micros()),
				number(outcomes, (each) -> 100.0 * each.local().decisions() / each.checks()) + " %",
				String.format(Locale.ROOT, "%,.0f", Median.of(calls).value()), mostAbove(order, outcomes, 0),
				number(outcomes, (each) -> 100 * each.degradedShare()) + " %");
	}

	/** What few counters decided says nothing about their latency. */
	private static Verdict level(String name, List<Outcomes> outcomes, ToDoubleFunction<Outcomes> value,
			double micros) {
		double degraded = median(outcomes, Outcomes::degradedShare).value();
		if (degraded > DEGRADED) {
			return Verdict.unresolvable(name, String.format(Locale.ROOT, "%.1f %% degraded", 100 * degraded));
		}
		return Verdict.atMost(name, median(outcomes, value), micros, "µs");
	}

	private static Verdict bound(String name, Order order, List<Outcomes> outcomes, double expiry) {
		// Due in a second, but decided up to the deadline later.
		long above = mostAbove(order, outcomes, expiry + 1);
		return Verdict.bound(name + ": admitted ≤ burst + rate × (T + " + (expiry > 0 ? "lease expiry" : "0") + ")",
				above <= 0, (above <= 0) ? "held" : above + " too many");
	}

	/** Over all turns, callers above their limit and times from the start. */
	private static long mostAbove(Order order, List<Outcomes> outcomes, double moreSeconds) {
		double limit = order.overRate() / 1.5;
		long most = Long.MIN_VALUE;
		for (Outcomes turn : outcomes) {
			for (int key = 0; key < order.over(); key++) {
				long allowed = Math.round(limit + limit * (order.seconds() + moreSeconds));
				most = Math.max(most, turn.admitted(key, 0, order.seconds()) - allowed);
			}
		}
		return most;
	}

	private static Median median(List<Outcomes> outcomes, ToDoubleFunction<Outcomes> value) {
		return Median.of(outcomes.stream().mapToDouble(value).toArray());
	}

	private static String number(List<Outcomes> outcomes, ToDoubleFunction<Outcomes> value) {
		return String.format(Locale.ROOT, "%,.1f", median(outcomes, value).value());
	}

	private static List<double[]> points(List<Outcomes> outcomes) {
		List<double[]> points = new ArrayList<>();
		for (int turn = 0; turn < outcomes.size(); turn++) {
			points.add(new double[] { turn + 1, outcomes.get(turn).p99Micros() });
		}
		return points;
	}

}
