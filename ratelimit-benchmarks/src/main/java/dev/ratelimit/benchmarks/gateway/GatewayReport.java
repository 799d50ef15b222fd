package dev.ratelimit.benchmarks.gateway;

import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.common.Goal;
import dev.ratelimit.benchmarks.common.Median;

/**
 * All results of one run over HTTP, as they are written to the JSON. Numbers of routes
 * are medians over the turns.
 *
 * @param cost processor time per request that gateway and Redis spend more than on the
 * plain route, as a share of the gateway's on the plain route
 * @param kept throughput as a share of the plain route's
 * @param costInterval 95 % interval of each cost
 * @param samples share of the gateway's profile samples that are ours, of the sound
 * profiles
 * @param samplesInterval 95 % interval of each share
 * @param environment what was measured on
 * @param routes the numbers of each route
 * @param profiles where our samples are
 * @param turns every single measurement
 */
record GatewayReport(Map<String, Double> cost, Map<String, Double> kept, Map<String, List<Double>> costInterval,
		Map<String, Double> samples, Map<String, List<Double>> samplesInterval, Environment environment,
		Map<String, Turn> routes, Map<String, List<Profile>> profiles, List<Turn> turns) {

	/** Share of requests that may fail. */
	private static final double TOLERATED = 0.005;

	static GatewayReport of(Environment environment, List<Map<Route, Turn>> turns, Map<Route, List<Profile>> profiles) {
		Map<String, Double> cost = new LinkedHashMap<>();
		Map<String, List<Double>> intervals = new LinkedHashMap<>();
		costs(turns).forEach((route, median) -> {
			cost.put(route.id(), median.value());
			intervals.put(route.id(), List.of(median.low(), median.high()));
		});
		Map<String, Double> kept = new LinkedHashMap<>();
		compared(turns, (turn, plain) -> turn.throughput() / plain.throughput())
			.forEach((route, median) -> kept.put(route.id(), median.value()));
		Map<String, Turn> routes = new LinkedHashMap<>();
		turns.get(0).keySet().forEach((route) -> routes.put(route.id(), median(route, turns)));
		Map<String, Double> samples = new LinkedHashMap<>();
		Map<String, List<Double>> samplesInterval = new LinkedHashMap<>();
		Map<String, List<Profile>> profiled = new LinkedHashMap<>();
		profiles.forEach((route, all) -> {
			List<Double> sound = all.stream()
				.filter((profile) -> sound(profile.failedShare()))
				.map(Profile::ours)
				.toList();
			if (!sound.isEmpty()) {
				Median median = Median.of(sound);
				samples.put(route.id(), median.value());
				samplesInterval.put(route.id(), List.of(median.low(), median.high()));
			}
			profiled.put(route.id(), all);
		});
		return new GatewayReport(cost, kept, intervals, samples, samplesInterval, environment, routes, profiled,
				turns.stream().flatMap((turn) -> turn.values().stream()).toList());
	}

	/** Cost of each filter, from the pairs of its turn and the plain route's. */
	static Map<Route, Median> costs(List<Map<Route, Turn>> turns) {
		return compared(turns, (turn, plain) -> (turn.micros() - plain.micros()) / plain.gatewayMicros());
	}

	private static Map<Route, Median> compared(List<Map<Route, Turn>> turns, Comparison comparison) {
		Map<Route, Median> medians = new EnumMap<>(Route.class);
		for (Route route : turns.get(0).keySet()) {
			if (route != Route.PLAIN) {
				medians.put(route, Median
					.of(turns.stream().map((turn) -> comparison.of(of(turn, route), of(turn, Route.PLAIN))).toList()));
			}
		}
		return medians;
	}

	private static Turn of(Map<Route, Turn> turn, Route route) {
		return Objects.requireNonNull(turn.get(route));
	}

	private static Turn median(Route route, List<Map<Route, Turn>> turns) {
		return new Turn(route.id(), median(route, turns, Turn::throughput), median(route, turns, Turn::p50Micros),
				median(route, turns, Turn::p99Micros), median(route, turns, Turn::gatewayMicros),
				median(route, turns, Turn::redisMicros), median(route, turns, Turn::otherMicros),
				median(route, turns, Turn::failedShare));
	}

	private static double median(Route route, List<Map<Route, Turn>> turns, ToDoubleFunction<Turn> number) {
		return Median.of(turns.stream().map((turn) -> number.applyAsDouble(of(turn, route))).toList()).value();
	}

	/**
	 * Whether the gateway was warm, all requests passed in every turn, and every bound
	 * was kept. A leased route without a sound profile is not judged, so it has not
	 * passed.
	 */
	boolean passed() {
		return this.environment.steady() && this.turns.stream().allMatch((turn) -> sound(turn.failedShare()))
				&& this.profiles.values()
					.stream()
					.flatMap(List::stream)
					.allMatch((profile) -> sound(profile.failedShare()))
				&& lean()
				&& this.cost.entrySet().stream().allMatch((entry) -> goal(entry.getKey()).kept(entry.getValue()))
				&& (!this.routes.containsKey(Route.LEASED.id())
						|| Route.LEASED_SAMPLES.kept(this.samples.getOrDefault(Route.LEASED.id(), 1.0)));
	}

	private boolean sound(String route) {
		Turn turn = this.routes.get(route);
		return turn != null && sound(turn.failedShare());
	}

	private static boolean sound(double failedShare) {
		return failedShare < TOLERATED;
	}

	/** Whether load and upstream cost less than the gateway; true if not known. */
	private boolean lean() {
		Turn plain = this.routes.get(Route.PLAIN.id());
		return plain == null || !(plain.otherMicros() >= plain.gatewayMicros());
	}

	private static Goal goal(String route) {
		return Route.valueOf(route.toUpperCase(Locale.ROOT)).goal();
	}

	void print(PrintWriter out) {
		Environment on = this.environment;
		out.printf(Locale.ROOT, "%nMedians of %d turns of %.0f s; %s; Java %s, %d cores; load average %.1f before%n",
				on.turns(), on.seconds(), String.join(", ", on.parts()), on.java(), on.cores(), on.loadBefore());
		out.printf(Locale.ROOT, "Warm after %d turns: the last three differ by %.1f %%%s%n%n", on.warmUpTurns(),
				100 * on.warmUpSpread(), on.steady() ? "" : ", NOT STEADY");
		printRoutes(out);
		out.println();
		printGoals(out);
		printProfiles(out);
		out.flush();
	}

	private void printRoutes(PrintWriter out) {
		out.printf("| %-9s | %-34s | %10s | %7s | %7s | %10s | %8s | %8s | %5s |%n", "route", "filter", "requests/s",
				"p50 µs", "p99 µs", "gateway µs", "Redis µs", "other µs", "kept");
		out.printf("|%s|%s|%s:|%s:|%s:|%s:|%s:|%s:|%s:|%n", "-".repeat(11), "-".repeat(36), "-".repeat(11),
				"-".repeat(8), "-".repeat(8), "-".repeat(11), "-".repeat(9), "-".repeat(9), "-".repeat(6));
		this.routes.forEach((id, turn) -> {
			Double share = this.kept.get(id);
			out.printf(Locale.ROOT, "| %-9s | %-34s | %,10.0f | %,7.0f | %,7.0f | %10.1f | %8.1f | %8.1f | %5s |%s%n",
					id, Route.valueOf(id.toUpperCase(Locale.ROOT)).text(), turn.throughput(), turn.p50Micros(),
					turn.p99Micros(), turn.gatewayMicros(), turn.redisMicros(), turn.otherMicros(),
					(share != null) ? String.format(Locale.ROOT, "%.2f", share) : "", sound(turn.failedShare()) ? ""
							: String.format(Locale.ROOT, " NOT SOUND: %.1f %% failed", 100 * turn.failedShare()));
		});
		out.println("gateway, Redis, other (load and upstream): processor time per request.");
		if (!lean()) {
			out.println("NOT SOUND: load and upstream cost more than the gateway.");
		}
	}

	private void printGoals(PrintWriter out) {
		out.println("Cost: processor time per request of gateway and Redis above the plain route's, as a share of the "
				+ "gateway's on the plain route.");
		Goal.printHeader(out);
		this.cost.forEach((id, value) -> {
			if (!sound(id) || !sound(Route.PLAIN.id())) {
				return;
			}
			goal(id).print(out, median(value, this.costInterval.get(id), this.environment.turns()));
		});
		Double leased = this.samples.get(Route.LEASED.id());
		if (leased != null && sound(Route.LEASED.id())) {
			Route.LEASED_SAMPLES.print(out,
					median(leased, this.samplesInterval.get(Route.LEASED.id()), Route.LEASED.profiles()));
		}
		else if (this.routes.containsKey(Route.LEASED.id())) {
			out.println("NOT JUDGED: leased-samples, for lack of a sound profile.");
		}
	}

	private static Median median(double value, @Nullable List<Double> interval, int values) {
		return (interval != null) ? new Median(value, interval.get(0), interval.get(1), values) : Median.of(value);
	}

	private void printProfiles(PrintWriter out) {
		this.profiles.forEach((id, all) -> all.forEach((profile) -> {
			out.printf(Locale.ROOT,
					"%nProfile of %s: %.1f %% of %,d samples are ours, Lettuce's threads have %.1f %%%s%n", id,
					100 * profile.ours(), profile.samples(), 100 * profile.lettuce(),
					sound(profile.failedShare()) ? "" : "; NOT SOUND");
			profile.classes().forEach((name, share) -> out.printf(Locale.ROOT, "  %5.2f %%  %s%n", 100 * share, name));
		}));
	}

	private interface Comparison {

		double of(Turn turn, Turn plain);

	}

	/**
	 * What was measured on.
	 *
	 * @param parts Redis, upstream and load
	 * @param java version of the JVM
	 * @param cores processors of this machine
	 * @param loadBefore load average before anything ran
	 * @param warmUpTurns turns until the gateway was warm
	 * @param warmUpSpread by what share the last three of them differ
	 * @param steady whether that is little enough
	 * @param turns measured turns
	 * @param seconds time of a route in a turn
	 */
	record Environment(List<String> parts, String java, int cores, double loadBefore, int warmUpTurns,
			double warmUpSpread, boolean steady, int turns, double seconds) {
	}

}
