package dev.ratelimit.benchmarks.peers;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

import io.lettuce.core.RedisURI;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RoundOptions;
import dev.ratelimit.benchmarks.common.RunOptions;

/**
 * Our limiter beside others, each in a JVM of its own. In every round each has its turn;
 * the medians over the rounds are reported, so that what else the machine did for a while
 * hits all of them or none.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar peers --quick}
 */
@Command(name = "peers", description = "Our limiter beside others: throughput, latency, processor time.",
		mixinStandardHelpOptions = true,
		footer = "Defaults: --warm-up PT20S (quick PT12S), --measure PT5S (quick PT3S).")
public final class PeersCommand implements Callable<Integer> {

	/** What is promised, less the time to start and to report. */
	private static final Duration QUICK = Duration.ofSeconds(590);

	/** Quick: only what the ratios need, measured for a shorter time. */
	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--only", split = ",", paramLabel = "CONTENDER", description = "Only these contenders: "
			+ "ours-strict, ours-strict-3x2, ours-leased-3x2, ours-adaptive-3x2, ours-refused-3x2, scg, scg-static, "
			+ "bucket4j, bucket4j-batching, redisson, raw-evalsha, raw-incrby.")
	private List<String> only = List.of();

	@Mixin
	private RoundOptions rounds = new RoundOptions();

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		double loadBefore = Machine.loadAverage();
		try (MeasuredRedis redis = this.options.openRedis()) {
			Plan plan = plan(redis.uri());
			List<Measurement> measured = run(plan);
			redis.flush();
			Report report = Report.of(new Report.Environment(redis.toString(), Runtime.version().toString(),
					Machine.cores(), loadBefore, Machine.loadAverage(), measured.size() / plan.workloads(),
					plan.measure().toMillis() / 1e3, this.rounds.deadline().toMillis()), measured);
			report.print(this.spec.commandLine().getOut());
			this.options.write(report);
			return report.passed() ? 0 : 1;
		}
	}

	private List<Measurement> run(Plan plan) throws IOException {
		List<Measurement> measured = new ArrayList<>();
		Map<ContenderKind, WorkerProcess> workers = new EnumMap<>(ContenderKind.class);
		try {
			Progress progress = new Progress(plan);
			for (int round = 1; round <= plan.rounds()
					&& (!this.options.quick() || progress.fits(round, QUICK)); round++) {
				for (ContenderKind kind : plan.contenders()) {
					progress.begin(round, kind);
					if (round == 1) {
						workers.put(kind, new WorkerProcess(kind, plan));
					}
					WorkerProcess worker = Objects.requireNonNull(workers.get(kind));
					for (Workload workload : plan.workloads(kind)) {
						Measurement each = worker.measure(workload);
						progress.show(workload, each);
						measured.add(each);
					}
				}
			}
		}
		finally {
			workers.values().forEach(WorkerProcess::close);
		}
		return measured;
	}

	private Plan plan(RedisURI redis) {
		List<ContenderKind> contenders = this.only.isEmpty() ? Arrays.asList(ContenderKind.values())
				: this.only.stream().map(ContenderKind::parse).toList();
		boolean quick = this.options.quick();
		return new Plan(redis, contenders, quick, this.rounds.rounds(), this.rounds.deadline(),
				this.rounds.warmUp(quick ? 12 : 20), this.rounds.measure(quick ? 3 : 5));
	}

}
