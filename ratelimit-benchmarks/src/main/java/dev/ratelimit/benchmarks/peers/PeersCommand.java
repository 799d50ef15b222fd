package dev.ratelimit.benchmarks.peers;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.testing.RedisServer;

/**
 * Our limiter beside others, each in a JVM of its own. In every round each has its turn;
 * the medians over the rounds are reported, so that what else the machine did for a while
 * hits all of them or none.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar peers --quick}
 */
@Command(name = "peers", description = "Our limiter beside others: throughput, latency, processor time.",
		mixinStandardHelpOptions = true)
public final class PeersCommand implements Callable<Integer> {

	/** What is promised, less the time to start and to report. */
	private static final Duration QUICK = Duration.ofSeconds(470);

	@Option(names = "--quick",
			description = "Only what the ratios need, measured for a shorter time: ends within 8 minutes.")
	private boolean quick;

	@Option(names = "--only", split = ",", paramLabel = "CONTENDER", description = "Only these contenders: "
			+ "ours-strict, ours-strict-3x2, ours-leased-3x2, ours-adaptive-3x2, ours-refused-3x2, scg, scg-static, "
			+ "bucket4j, bucket4j-batching, redisson, raw-evalsha.")
	private List<String> only = List.of();

	@Option(names = "--rounds", defaultValue = "3", paramLabel = "N",
			description = "How often each is measured (default: ${DEFAULT-VALUE}).")
	private int rounds;

	@Option(names = "--warm-up", paramLabel = "DURATION",
			description = "Time for the compiler, once per contender (default: PT20S, quick PT12S).")
	private @Nullable Duration warmUp;

	@Option(names = "--measure", paramLabel = "DURATION",
			description = "Time of each measurement (default: PT5S, quick PT3S).")
	private @Nullable Duration measure;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check of ours (default: ${DEFAULT-VALUE}, as in an application); "
					+ "on a machine that is busy otherwise it needs more, or the breaker opens.")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Option(names = "--uri", paramLabel = "URI",
			description = "An empty standalone Redis to measure on instead of one started for it; it is flushed.")
	private @Nullable String uri;

	@Option(names = "--json", paramLabel = "FILE", description = "Also writes results and ratios to a file.")
	private @Nullable File json;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		Report report;
		if (this.uri != null) {
			report = measure(RedisURI.create(this.uri));
		}
		else {
			try (RedisServer server = RedisServer.start()) {
				report = measure(server.uri());
			}
		}
		report.print(this.spec.commandLine().getOut());
		if (this.json != null) {
			new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(this.json, report);
		}
		return report.results().stream().allMatch(Measurement::sound) ? 0 : 1;
	}

	private Report measure(RedisURI redis) throws IOException {
		double loadBefore = Machine.loadAverage();
		try (ServerProbe probe = new ServerProbe(redis)) {
			if (!probe.empty()) {
				throw new IllegalStateException(
						"the Redis at " + redis.getHost() + ":" + redis.getPort() + " holds keys, use an empty one");
			}
			Plan plan = plan(redis);
			List<Measurement> measured = run(plan);
			probe.flush();
			return Report.of(
					new Report.Environment(probe.version(), Runtime.version().toString(), Machine.cores(), loadBefore,
							Machine.loadAverage(), measured.size() / plan.workloads(), plan.measure().toMillis() / 1e3),
					measured);
		}
	}

	private List<Measurement> run(Plan plan) throws IOException {
		List<Measurement> measured = new ArrayList<>();
		Map<ContenderKind, WorkerProcess> workers = new EnumMap<>(ContenderKind.class);
		try {
			Progress progress = new Progress(plan);
			for (int round = 1; round <= plan.rounds() && (!this.quick || progress.fits(round, QUICK)); round++) {
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
		Duration warmUp = (this.warmUp != null) ? this.warmUp : Duration.ofSeconds(this.quick ? 12 : 20);
		Duration measure = (this.measure != null) ? this.measure : Duration.ofSeconds(this.quick ? 3 : 5);
		return new Plan(redis, contenders, this.quick, this.rounds, this.deadline, warmUp, measure);
	}

}
