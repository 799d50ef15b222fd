package dev.ratelimit.benchmarks.experiment;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;

/**
 * The part of experiment 4 in which one of the primaries of a cluster is killed and its
 * replica takes over.
 *
 * @param setting of the experiment
 */
record Failover(Setting setting) {

	private static final double ENFORCED = 0.99;

	private static final Duration NODE_TIMEOUT = Duration.ofSeconds(2);

	/** Enough callers that each primary has its share of them. */
	private static final int CALLERS = 200;

	private static final double CALLER_RATE = 1;

	void run(List<Table> tables, List<Verdict> verdicts) throws Exception {
		int primaries = this.setting.of(10, 3);
		int seconds = this.setting.of(300, 18);
		int killedAt = this.setting.of(60, 3);
		Order order = new Order(1, seconds, 0, 0, 0, 0, CALLERS * CALLER_RATE, CALLERS, 0);
		List<Outcomes> outcomes;
		try (RedisCluster cluster = RedisCluster.start(primaries, NODE_TIMEOUT)) {
			RedisServer victim = cluster.primaries().get(0);
			RedisServer seed = cluster.primaries().get(1);
			outcomes = Setting.with(FailureModes.specs(seed.uri().toURI().toString(), true),
					(instances) -> InstanceProcess.run(instances, order, (start) -> {
						FailureModes.awaitMillis(start + killedAt * 1_000L);
						Setting.progress("experiment 4: one of %d primaries killed at second %d of %d", primaries,
								killedAt, seconds);
						victim.kill();
					}));
		}
		Table table = new Table(String.format(Locale.ROOT,
				"One of %d primaries of a cluster is killed after %d of %d s; its nodes wait %d s before they promote the replica:",
				primaries, killedAt, seconds, NODE_TIMEOUT.toSeconds()),
				List.of("mode", "checks", "errors", "degraded", "≥ 99 % undegraded again after", "p99 µs before",
						"worst p99 µs after"));
		Plot plot = new Plot("Experiment 4: undegraded decisions around a fail-over", "seconds", "share");
		for (int mode = 0; mode < outcomes.size(); mode++) {
			Outcomes each = outcomes.get(mode);
			String name = FailureModes.MODES.get(mode);
			List<Outcomes.Second> bySecond = each.bySecond();
			int enforced = enforcedAfter(bySecond, killedAt);
			table.add(name, each.checks(), each.errors(), FailureModes.percent(each.degraded(), each.checks()),
					(killedAt + enforced < seconds) ? enforced + " s" : "not within the run",
					worst(bySecond.subList(1, killedAt)), worst(bySecond.subList(killedAt, seconds)));
			verdicts.add(Verdict.bound(name + ": no error while a primary is replaced", each.errors() == 0,
					each.errors() + " errors"));
			verdicts.add(degraded(name, each, primaries, seconds));
			plot.line(name, points(bySecond));
		}
		tables.add(table);
		plot.write(this.setting.folder().file("experiment-4-failover.svg"));
	}

	private Verdict degraded(String mode, Outcomes outcomes, int primaries, int seconds) {
		String name = mode + ": below 1 % degraded over the five minutes around a fail-over of one of ten primaries";
		if (this.setting.quick()) {
			return Verdict.unresolvable(name,
					String.format("%d primaries and %d s in a quick run", primaries, seconds));
		}
		return Verdict.level(name, outcomes.degradedShare() < 0.01,
				FailureModes.percent(outcomes.degraded(), outcomes.checks()));
	}

	/** Seconds from a time until all that follow are enforced. */
	private static int enforcedAfter(List<Outcomes.Second> seconds, int from) {
		int after = seconds.size();
		while (after > from && seconds.get(after - 1).degraded() <= (1 - ENFORCED) * seconds.get(after - 1).all()) {
			after--;
		}
		return after - from;
	}

	private static String worst(List<Outcomes.Second> seconds) {
		return String.format(Locale.ROOT, "%,.0f",
				seconds.stream().mapToDouble(Outcomes.Second::p99Micros).max().orElse(0));
	}

	private static List<double[]> points(List<Outcomes.Second> seconds) {
		List<double[]> points = new ArrayList<>();
		for (int i = 0; i < seconds.size(); i++) {
			Outcomes.Second second = seconds.get(i);
			points.add(new double[] { i + 1, 1 - (double) second.degraded() / Math.max(1, second.all()) });
		}
		return points;
	}

}
