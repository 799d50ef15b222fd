package dev.ratelimit.benchmarks.million;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;
import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RunOptions;
import dev.ratelimit.benchmarks.lab.Ceiling;
import dev.ratelimit.benchmarks.lab.LabFolder;
import dev.ratelimit.benchmarks.lab.LabResult;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;
import dev.ratelimit.benchmarks.load.BoundedLoad;
import dev.ratelimit.benchmarks.load.Callers;
import dev.ratelimit.benchmarks.load.Traffic;
import dev.ratelimit.benchmarks.peers.Ours;
import dev.ratelimit.benchmarks.recovery.RecoveryCommand;

/**
 * The most decisions per second. The load is in the process of the instance, so that no
 * network between them is measured.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar million --quick}
 */
@Command(name = "million", description = "Decisions per second: the ceiling over 5M callers, and 1M/s over 3,000.",
		mixinStandardHelpOptions = true)
public final class MillionCommand implements Callable<Integer> {

	private static final List<String> PARTS = List.of("zipf", "leased", "recovery");

	private static final double SKEW = 1.2;

	private static final int QUICK_KEYS = 50_000;

	/** What is promised. */
	private static final int RECOVERED_SECONDS = 5;

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--only", split = ",", paramLabel = "PART",
			description = "zipf: the ceiling over many callers; leased: a million a second over 3,000; recovery: the same "
					+ "from a cold start and after an outage (default: all).")
	private List<String> only = PARTS;

	@Option(names = "--keys", paramLabel = "N", description = "Callers of zipf (default: 5000000, quick 50000).")
	private @Nullable Integer keys;

	@Option(names = "--leased-keys", paramLabel = "N", defaultValue = "3000",
			description = "Callers of leased and recovery (default: ${DEFAULT-VALUE}).")
	private int leasedKeys;

	@Option(names = "--rate", paramLabel = "N", defaultValue = "1000000",
			description = "Decisions per second of leased and recovery, and the most that zipf tries (default: ${DEFAULT-VALUE}).")
	private double rate;

	@Option(names = "--hold", paramLabel = "DURATION", description = "How long (default: PT10M, quick PT3S).")
	private @Nullable Duration hold;

	@Option(names = "--threads", paramLabel = "N", description = "Threads that send (default: half of the processors).")
	private @Nullable Integer threads;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check (default: ${DEFAULT-VALUE}, as in an application).")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Option(names = "--out", defaultValue = "target/lab", paramLabel = "DIR",
			description = "Where results are kept (default: ${DEFAULT-VALUE}).")
	private Path out = Path.of("target/lab");

	@Option(names = "--resume", description = "Takes parts that are there already instead of running them again.")
	private boolean resume;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws Exception {
		requireKnown(this.only);
		LabFolder folder = new LabFolder(this.out, this.options);
		List<LabResult> results = new ArrayList<>();
		for (String part : this.only) {
			LabResult result = folder.run("million-" + part, this.resume, () -> part(part, folder));
			result.print(this.spec.commandLine().getOut());
			results.add(result);
		}
		this.options.write(results);
		return results.stream().allMatch(LabResult::passed) ? 0 : 1;
	}

	private void requireKnown(List<String> parts) {
		for (String part : parts) {
			if (!PARTS.contains(part)) {
				throw new ParameterException(this.spec.commandLine(),
						"--only: there is no part '" + part + "', only " + String.join(", ", PARTS));
			}
		}
	}

	private LabResult part(String name, LabFolder folder) throws Exception {
		if (name.equals("recovery")) {
			return recovery(folder);
		}
		try (MeasuredRedis redis = this.options.openRedis()) {
			return name.equals("zipf") ? zipf(redis, folder) : leased(redis, folder);
		}
	}

	private LabResult zipf(MeasuredRedis redis, LabFolder folder) throws Exception {
		int callers = (this.keys != null) ? this.keys : this.options.quick() ? QUICK_KEYS : Traffic.MAX_KEYS;
		// A daily window keeps every counter alive for the whole run.
		Policy policy = Policy.builder(Ours.POLICY)
			.algorithm(Algorithm.SLIDING_WINDOW_COUNTER)
			.enforcement(Enforcement.ADAPTIVE)
			.limit("per-user", List.of(Dimension.USER), "90000000/d")
			.build();
		Callers zipf = Callers.zipf(callers, SKEW, 1);
		double first = this.options.quick() ? 5_000 : 20_000;
		int step = this.options.quick() ? 2 : 10;
		try (Ours limiter = open(redis, policy, callers, Duration.ofSeconds(2))) {
			new BoundedLoad("every caller once", callers, 1).run((key) -> limiter.decide(Ours.request(key)));
			Hold.run("warm-up", redis, limiter, zipf, threads(), first, 1, step);
		}
		Table steps = new Table("Steps of the search:", List.of("offered/s", "decided/s", "undegraded", "kept up"));
		double ceiling = Ceiling.search(first, this.rate, this.options.quick() ? 0 : 2, (rate) -> {
			try (Ours limiter = open(redis, policy, callers, this.deadline)) {
				Hold tried = Hold.run(String.format("%,.0f/s", rate), redis, limiter, zipf, threads(), rate, 1, step);
				steps.add(String.format("%,.0f", rate), String.format("%,.0f", tried.decidedPerSecond()),
						String.format(Locale.ROOT, "%.2f %%", 100 * tried.undegraded()),
						tried.keptUp(rate) ? "yes" : "no");
				return tried.keptUp(rate);
			}
		});
		Verdict found = Verdict.level("a ceiling was found", ceiling > 0, String.format("%,.0f/s", ceiling));
		if (ceiling == 0) {
			return new LabResult("Zipf over many callers", machine(redis), List.of(steps), List.of(found), "",
					List.of("Not even the first step was kept up."));
		}
		double held = 0.9 * ceiling;
		return held(redis, folder, "million-zipf", policy, callers, zipf, held,
				String.format(Locale.ROOT,
						"A daily quota of each of %,d callers, Zipf %.1f, adaptive: 90 %% of the ceiling of %,.0f/s",
						callers, SKEW, ceiling),
				List.of(steps), List.of(found),
				List.of("Every caller was asked for once before, so all counters exist. `plan` says what 1,000,000/s of this need."));
	}

	private LabResult leased(MeasuredRedis redis, LabFolder folder) throws Exception {
		Policy policy = Policy.builder(Ours.POLICY)
			.enforcement(Enforcement.LEASED)
			.limit("per-user", List.of(Dimension.USER), "60000000/m")
			.build();
		return held(redis, folder, "million-leased", policy, this.leasedKeys, Callers.inTurn(this.leasedKeys),
				this.rate, String.format("%,.0f/s over %,d leased callers", this.rate, this.leasedKeys), List.of(),
				List.of(), List.of());
	}

	private LabResult held(MeasuredRedis redis, LabFolder folder, String name, Policy policy, int callers,
			Callers drawn, double rate, String title, List<Table> before, List<Verdict> levels, List<String> notes)
			throws Exception {
		int ramp = this.options.quick() ? 1 : 10;
		Duration time = (this.hold != null) ? this.hold
				: this.options.quick() ? Duration.ofSeconds(3) : Duration.ofMinutes(10);
		int seconds = ramp + (int) Math.max(3, time.toSeconds());
		List<Table> tables = new ArrayList<>(before);
		List<Verdict> verdicts = new ArrayList<>(levels);
		Hold hold;
		try (Ours limiter = open(redis, policy, callers, this.deadline)) {
			Tracked tracked = new Tracked(limiter);
			Thread sender = tracked.start(seconds);
			hold = Hold.run(name, redis, limiter, drawn, threads(), rate, ramp, seconds);
			sender.join();
			verdicts.add(tracked.verdict(seconds));
		}
		hold.write(folder, name);
		tables.add(hold.table("Held:"));
		verdicts.addAll(hold.flat());
		verdicts.add(Verdict.level(String.format("%,.0f decisions/s of counters, in the mean", rate),
				hold.decidedPerSecond() >= 0.97 * rate,
				String.format("%,.0f/s, %,d/s in the worst second", hold.decidedPerSecond(), hold.worstSecond())));
		verdicts.add(Verdict.level("at least 99 % undegraded", hold.undegraded() >= 0.99,
				String.format(Locale.ROOT, "%.2f %%", 100 * hold.undegraded())));
		return new LabResult(title, machine(redis), tables, verdicts, hold.used().bottleneck(), notes);
	}

	/** By the command of that name, at this rate. */
	private LabResult recovery(LabFolder folder) throws IOException {
		File json = folder.file("recovery.json").toFile();
		List<String> arguments = new ArrayList<>(List.of("--rate", String.valueOf(this.rate), "--keys",
				String.valueOf(this.leasedKeys), "--threads", String.valueOf(threads()), "--deadline",
				this.deadline.toString(), "--redis", this.options.redis(), "--json", json.toString()));
		if (this.options.quick()) {
			arguments.add("--quick");
		}
		CommandLine command = new CommandLine(new RecoveryCommand()).setOut(this.spec.commandLine().getOut());
		if (command.execute(arguments.toArray(String[]::new)) > 1) {
			throw new IllegalStateException("recovery failed, see above");
		}
		JsonNode report = new ObjectMapper().readTree(json);
		return new LabResult(
				String.format("%,.0f/s from the first moment, and after a Redis that stood still for 4 s", this.rate),
				Machine.describe(report.path("redis").asText()), List.of(seconds(report.path("seconds"))),
				List.of(level("99 % undegraded within 5 s of a cold start", report.path("startSeconds").asInt()),
						level("99 % undegraded within 5 s of the return of Redis",
								report.path("returnSeconds").asInt())),
				"", List.of(String.format("The load sent %,d of %,.0f checks/s.", report.path("rate").asLong(),
						this.rate)));
	}

	private static Table seconds(JsonNode seconds) {
		Table table = new Table("By what Redis did:", List.of("Redis", "second", "sent", "undegraded", "processors"));
		for (String part : List.of("started", "stopped", "returned")) {
			int second = 1;
			for (JsonNode each : seconds.path(part)) {
				table.add(part, second++, String.format("%,d", each.path("sent").asLong()),
						String.format(Locale.ROOT, "%.2f %%", 100 * each.path("undegraded").asDouble()),
						String.format(Locale.ROOT, "%.2f", each.path("processor").asDouble()));
			}
		}
		return table;
	}

	private static Verdict level(String name, int seconds) {
		return Verdict.level(name, seconds <= RECOVERED_SECONDS, seconds + " s");
	}

	private static Ours open(MeasuredRedis redis, Policy policy, int callers, Duration deadline) {
		return new Ours(redis.uri(), List.of(policy, Tracked.policy()), callers, new Ours.Options(deadline, 1, false));
	}

	private int threads() {
		return (this.threads != null) ? this.threads : Math.max(1, Machine.cores() / 2);
	}

	private static String machine(MeasuredRedis redis) {
		return Machine.describe(redis.toString());
	}

}
