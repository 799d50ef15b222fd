package dev.ratelimit.benchmarks.gateway;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RunOptions;

/**
 * What a filter costs a gateway. All filters are routes of one process, so that they have
 * the same compiled code and heap. The routes take turns, and every turn compares each
 * filter with the plain route a few seconds apart.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar gateway --quick}
 */
@Command(name = "gateway", description = "The cost of filters in a gateway: ours and its own, over HTTP.",
		mixinStandardHelpOptions = true)
public final class GatewayCommand implements Callable<Integer> {

	private static final int MAX_TURNS = 30;

	private static final int QUICK_TURNS = 8;

	/** Fewer turns than this are never enough. */
	private static final int MIN_TURNS = 8;

	/**
	 * If the intervals of all judged costs are no wider than this, no further turn is
	 * needed.
	 */
	private static final double NARROW = 0.04;

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--only", split = ",", paramLabel = "ROUTE",
			description = "Only these routes, and the plain one: strict, composite, leased, standin, builtin.")
	private List<String> only = List.of();

	@Option(names = "--turns", paramLabel = "N",
			description = "Measured turns, fewer if the intervals are narrow before (default: 30, quick 8).")
	private @Nullable Integer turns;

	@Option(names = "--warm-up-turns", defaultValue = "12", paramLabel = "N",
			description = "At most this many turns before, until three in a row differ by less than 5 %% "
					+ "(default: ${DEFAULT-VALUE}).")
	private int warmUpTurns = WarmUp.MAX_TURNS;

	@Option(names = "--connections", defaultValue = "32", paramLabel = "N",
			description = "Connections, each with one request at a time (default: ${DEFAULT-VALUE}).")
	private int connections;

	@Option(names = "--measure", paramLabel = "DURATION",
			description = "Time of a route in a turn, in whole seconds (default: PT5S, quick PT3S).")
	private @Nullable Duration measure;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check of ours (default: ${DEFAULT-VALUE}, as in an application).")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Option(names = "--stacks", paramLabel = "DIR",
			description = "Keeps the stacks of the profiles, one file per profile, for flame graphs.")
	private @Nullable Path stacks;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		double loadBefore = Machine.loadAverage();
		try (MeasuredRedis redis = this.options.openRedis();
				Lab lab = new Lab(redis, Route.select(this.only), this.connections, this.deadline)) {
			WarmUp warmUp = warmUp(lab);
			List<Map<Route, Turn>> measured = measure(lab);
			Map<Route, List<Profile>> profiles = lab.profiles(measure(), this.stacks);
			GatewayReport report = GatewayReport.of(new GatewayReport.Environment(lab.parts(),
					Runtime.version().toString(), Machine.cores(), loadBefore, warmUp.turns(), warmUp.spread(),
					warmUp.steady(), measured.size(), measure().toSeconds()), measured, profiles);
			report.print(this.spec.commandLine().getOut());
			this.options.write(report);
			redis.flush();
			return report.passed() ? 0 : 1;
		}
	}

	private WarmUp warmUp(Lab lab) {
		WarmUp warmUp = new WarmUp(this.warmUpTurns);
		while (!warmUp.over()) {
			Map<Route, Turn> turn = lab.turn(measure());
			warmUp.add(turn.values().stream().map(Turn::gatewayMicros).toList());
			System.err.printf(Locale.ROOT, "warm-up %d, at most %d: the last three turns differ by %.1f %%;%s%n",
					warmUp.turns(), this.warmUpTurns, 100 * warmUp.spread(), text(turn));
		}
		return warmUp;
	}

	/**
	 * The processor time per request of the gateway, and the share of requests that
	 * failed.
	 */
	private static String text(Map<Route, Turn> turn) {
		StringBuilder text = new StringBuilder(" gateway µs");
		turn.forEach(
				(route, one) -> text.append(String.format(Locale.ROOT, " %s %.0f", route.id(), one.gatewayMicros()))
					.append((one.failedShare() > 0)
							? String.format(Locale.ROOT, " (%.1f %% failed)", 100 * one.failedShare()) : ""));
		return text.toString();
	}

	private List<Map<Route, Turn>> measure(Lab lab) {
		int most = (this.turns != null) ? this.turns : this.options.quick() ? QUICK_TURNS : MAX_TURNS;
		List<Map<Route, Turn>> measured = new ArrayList<>();
		while (measured.size() < most && !(measured.size() >= MIN_TURNS && narrow(measured))) {
			Map<Route, Turn> turn = lab.turn(measure());
			measured.add(turn);
			StringBuilder line = new StringBuilder();
			GatewayReport.costs(measured)
				.forEach(
						(route, cost) -> line.append(String.format(Locale.ROOT, " %s %.2f", route.id(), cost.value())));
			System.err.printf("turn %d of %d:%s; costs so far%s%n", measured.size(), most, text(turn), line);
		}
		return measured;
	}

	private static boolean narrow(List<Map<Route, Turn>> measured) {
		return GatewayReport.costs(measured)
			.entrySet()
			.stream()
			.filter((cost) -> cost.getKey().goal().must() != null)
			.allMatch((cost) -> cost.getValue().width() <= NARROW);
	}

	private Duration measure() {
		return (this.measure != null) ? this.measure : Duration.ofSeconds(this.options.quick() ? 3 : 5);
	}

}
