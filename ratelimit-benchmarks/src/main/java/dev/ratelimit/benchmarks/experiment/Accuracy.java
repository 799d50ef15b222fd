package dev.ratelimit.benchmarks.experiment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.lab.LabResult;
import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;

/**
 * Experiment 5: several instances, some callers at one and a half times their limit and
 * some within it. How much of what is allowed is admitted, per window, as a distribution.
 */
final class Accuracy implements Experiment {

	static final int PERMITS = 100;

	private static final double OVER = 1.5;

	/** After so many seconds at 1.5 times the limit, the burst is used up. */
	static final int SETTLED = 2;

	private static final double WITHIN = 0.8;

	/** A lease may be spent for so long after it was granted. */
	private static final double EXPIRY_SECONDS = 1;

	/** With more degraded decisions than this, a run says nothing about accuracy. */
	private static final double DEGRADED = 0.01;

	@Override
	public LabResult run(Setting setting) throws Exception {
		int instances = setting.of(3, 2);
		int callers = setting.of(5, 3);
		Order order = new Order(1, setting.of(60, 4), callers, OVER * PERMITS / instances, callers,
				WITHIN * PERMITS / instances, setting.of(500, 50), 1_000, 0);
		Table table = new Table(String.format(Locale.ROOT,
				"Admitted ÷ allowed (burst + rate × T) of %d callers at %.1f times their limit of %d/s, over %d instances; "
						+ "refused of %d callers at %.1f times it:",
				callers, OVER, PERMITS, instances, callers, WITHIN),
				List.of("mode", "T", "p5", "p50", "p95", "max", "got of the rate", "refused within the limit",
						"degraded"));
		List<Verdict> verdicts = new ArrayList<>();
		Plot plot = new Plot("Admitted ÷ allowed in windows of 1 s", "share of the windows", "admitted ÷ allowed");
		String machine;
		String bottleneck;
		try (MeasuredRedis redis = setting.options().openRedis()) {
			machine = Setting.machine(redis);
			Watch watch = new Watch(redis);
			for (Mode mode : Mode.values()) {
				Setting.progress("experiment 5: %s, %d s", mode.text(), order.seconds());
				redis.flush();
				// Only accuracy matters here: no check should be late.
				InstanceSpec spec = InstanceSpec
					.of(redis.uri().toURI().toString(), mode.enforcement(), PERMITS + "/s", instances)
					.withSplit(mode.split())
					.withDeadline(1_000);
				List<Outcomes> outcomes = Setting.with(Collections.nCopies(instances, spec),
						(all) -> watch.during(() -> InstanceProcess.run(all, order, (start) -> {
						})));
				Judged judged = new Judged(mode, order, outcomes);
				judged.add(table, verdicts);
				plot.line(mode.text(), judged.distribution());
			}
			bottleneck = watch.bottleneck();
		}
		plot.write(setting.folder().file("experiment-5.svg"));
		return new LabResult("Experiment 5: accuracy", machine, List.of(table), verdicts, bottleneck,
				List.of("T begins at every whole second; the first windows have the full burst.",
						"The deadline is 1 s, so that no check is late; experiment 4 has the other case."));
	}

	/** What is compared. */
	enum Mode {

		STRICT("strict", 1), LEASED("leased", 1), SPLIT("strict", 4);

		private final String enforcement;

		private final int split;

		Mode(String enforcement, int split) {
			this.enforcement = enforcement;
			this.split = split;
		}

		String enforcement() {
			return this.enforcement;
		}

		int split() {
			return this.split;
		}

		String text() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/** The outcomes of a mode. */
	record Judged(Mode mode, Order order, List<Outcomes> outcomes) {

		void add(Table table, List<Verdict> verdicts) {
			int seconds = this.order.seconds();
			long worst = Long.MIN_VALUE;
			for (int window : new int[] { 1, Math.max(2, seconds / 4), seconds }) {
				double[] shares = shares(window);
				table.add(this.mode.text(), window + " s", share(shares, 0.05), share(shares, 0.5), share(shares, 0.95),
						share(shares, 1), (window == seconds) ? percent(got()) : "",
						(window == seconds) ? refusedWithin() + " of " + checksWithin() : "",
						(window == seconds) ? percent(degraded()) : "");
				worst = Math.max(worst, excess(window));
			}
			verdicts.add(
					Verdict.bound(
							this.mode.text() + ": admitted ≤ burst + rate × (T + "
									+ (expiry() > 0 ? "lease expiry" : "0") + ") in every window",
							worst <= 0, (worst <= 0) ? "held" : worst + " too many"));
			if (degraded() > DEGRADED) {
				String reason = percent(degraded()) + " degraded";
				verdicts.add(Verdict.unresolvable(this.mode.text() + ": no refusals within the limit", reason));
				verdicts.add(Verdict.unresolvable(this.mode.text() + ": above the limit at least 95 % of it", reason));
				return;
			}
			double refused = (double) refusedWithin() / Math.max(1, checksWithin());
			boolean strict = expiry() == 0;
			verdicts.add(
					Verdict.bound(this.mode.text() + ": refused within the limit " + (strict ? "never" : "below 0.1 %"),
							strict ? refused == 0 : refused < 0.001, percent(refused)));
			verdicts.add(Verdict.bound(this.mode.text() + ": above the limit at least 95 % of it", got() >= 0.95,
					percent(got())));
		}

		/** Of one-second windows: share of the windows, and the value they are below. */
		List<double[]> distribution() {
			double[] shares = shares(1);
			List<double[]> points = new ArrayList<>();
			for (int i = 0; i < shares.length; i++) {
				points.add(new double[] { (i + 1.0) / shares.length, shares[i] });
			}
			return points;
		}

		private double expiry() {
			return (this.mode == Mode.LEASED) ? EXPIRY_SECONDS : 0;
		}

		/** Sorted, of all callers above their limit and all windows. */
		double[] shares(int window) {
			double[] shares = new double[this.order.over() * (this.order.seconds() - window + 1)];
			int next = 0;
			for (int key = 0; key < this.order.over(); key++) {
				for (int from = 0; from + window <= this.order.seconds(); from++) {
					shares[next++] = (double) admitted(key, from, window) / (PERMITS + PERMITS * window);
				}
			}
			Arrays.sort(shares);
			return shares;
		}

		/** Admissions above the bound, at most, over all callers and windows. */
		private long excess(int window) {
			// Due in a second, but decided up to the deadline later.
			long bound = (long) (PERMITS + PERMITS * (window + 1 + expiry()));
			long worst = Long.MIN_VALUE;
			for (int key = 0; key < this.order.over(); key++) {
				for (int from = 0; from + window <= this.order.seconds(); from++) {
					worst = Math.max(worst, admitted(key, from, window) - bound);
				}
			}
			return worst;
		}

		double got() {
			int window = this.order.seconds() - SETTLED;
			double sum = 0;
			for (int key = 0; key < this.order.over(); key++) {
				sum += admitted(key, SETTLED, window);
			}
			return sum / this.order.over() / (PERMITS * window);
		}

		private long admitted(int key, int from, int window) {
			return this.outcomes.stream().mapToLong((each) -> each.admitted(key, from, from + window)).sum();
		}

		private long refusedWithin() {
			return this.outcomes.stream().mapToLong(Outcomes::refusedWithin).sum();
		}

		private long checksWithin() {
			return this.outcomes.stream().mapToLong(Outcomes::checksWithin).sum();
		}

		private double degraded() {
			return this.outcomes.stream().mapToDouble(Outcomes::degradedShare).average().orElse(0);
		}

		private static String share(double[] sorted, double percentile) {
			return String.format(Locale.ROOT, "%.3f",
					sorted[(int) Math.min(sorted.length - 1, Math.ceil(percentile * sorted.length) - 1)]);
		}

		private static String percent(double share) {
			return String.format(Locale.ROOT, "%.2f %%", 100 * share);
		}

	}

}
