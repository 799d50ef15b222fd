package dev.ratelimit.benchmarks.experiment;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.Median;
import dev.ratelimit.benchmarks.gateway.GatewayProcess;
import dev.ratelimit.benchmarks.gateway.Upstream;
import dev.ratelimit.benchmarks.lab.LabResult;
import dev.ratelimit.benchmarks.lab.Plot;
import dev.ratelimit.benchmarks.lab.Table;
import dev.ratelimit.benchmarks.lab.Verdict;
import dev.ratelimit.benchmarks.load.Arrival;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.HttpConnections;
import dev.ratelimit.benchmarks.load.OpenLoop;
import dev.ratelimit.benchmarks.load.Tally;
import dev.ratelimit.benchmarks.load.Traffic;

/**
 * Experiment 6: what a protected service's latency pays for a limit: without a filter,
 * with the gateway's own limiter, with a strict and with a leased limit, on the routes of
 * the benchmark {@code gateway}, in an open model.
 */
final class ProtectedService implements Experiment {

	private static final String OFF = "plain";

	/** Callers of each route: leases pay for callers that come again. */
	private static final Map<String, Integer> ROUTES = routes();

	private static final double FAILED = 0.005;

	private static Map<String, Integer> routes() {
		Map<String, Integer> routes = new LinkedHashMap<>();
		routes.put(OFF, 10_000);
		routes.put("builtin", 10_000);
		routes.put("strict", 10_000);
		routes.put("leased", 20);
		return routes;
	}

	@Override
	public LabResult run(Setting setting) throws Exception {
		int turns = setting.of(10, 2);
		Duration each = Duration.ofSeconds(setting.of(5, 1));
		double rate = setting.of(500, 100);
		Map<String, List<Tally>> tallies = new LinkedHashMap<>();
		Table responses;
		String machine;
		String bottleneck;
		try (MeasuredRedis redis = setting.options().openRedis();
				Upstream upstream = Upstream.start();
				GatewayProcess gateway = new GatewayProcess(redis.uri(), upstream.port(), Duration.ofMillis(20),
						Responses.properties());
				HttpConnections http = new HttpConnections(
						new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()), 64)) {
			machine = Setting.machine(redis) + ", " + upstream;
			Watch watch = new Watch(redis);
			int warmUp = setting.of(6, 2);
			for (int turn = 1; turn <= warmUp; turn++) {
				Setting.progress("experiment 6: warm-up %d of %d, %d routes of %d s", turn, warmUp, ROUTES.size(),
						each.toSeconds());
				turn(http, rate, each, -turn);
			}
			double before = gateway.cpuSeconds() + Machine.now().ownSeconds();
			for (int turn = 1; turn <= turns; turn++) {
				Setting.progress("experiment 6: turn %d of %d, %d routes of %d s", turn, turns, ROUTES.size(),
						each.toSeconds());
				int seed = turn;
				watch.watch(() -> turn(http, rate, each, seed))
					.forEach((route, tally) -> tallies.computeIfAbsent(route, (any) -> new ArrayList<>()).add(tally));
			}
			watch.add(gateway.cpuSeconds() + Machine.now().ownSeconds() - before);
			bottleneck = watch.bottleneck();
			responses = new Responses(gateway.port()).capture(redis);
			redis.flush();
		}
		return result(setting, tallies, rate, each, responses, machine, bottleneck);
	}

	/** Each route after the other. */
	private static Map<String, Tally> turn(HttpConnections http, double rate, Duration time, int seed) {
		Map<String, Tally> tallies = new LinkedHashMap<>();
		ROUTES.forEach((route, callers) -> {
			Traffic traffic = new Traffic(seed, rate, callers, 1.2, callers, rate / callers, 0);
			tallies.put(route, new OpenLoop((arrival, answer) -> http.send(request(route, arrival), answer),
					traffic.arrivals(time.toNanos()))
				.run());
		});
		return tallies;
	}

	private static ByteBuf request(String route, Arrival arrival) {
		return Unpooled
			.copiedBuffer(String.format("GET /%s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0.%d.%d\r\n\r\n",
					route, arrival.key() >> 8, arrival.key() & 0xff), StandardCharsets.US_ASCII);
	}

	private static LabResult result(Setting setting, Map<String, List<Tally>> tallies, double rate, Duration each,
			Table responses, String machine, String bottleneck) throws Exception {
		Table table = new Table(
				String.format(Locale.ROOT, "%,.0f requests/s on each route, medians of turns of %d s:", rate,
						each.toSeconds()),
				List.of("route", "p50 µs", "p99 µs", "p99.9 µs", "added p50 µs", "added p99 µs", "failed"));
		Plot plot = new Plot("Experiment 6: p99 of a request", "turn", "µs");
		List<Tally> off = tallies.getOrDefault(OFF, List.of());
		tallies.forEach((route, all) -> {
			table.add(route, number(all, 50), number(all, 99), number(all, 99.9),
					String.format(Locale.ROOT, "%,.0f", added(all, off, 50).value()),
					String.format(Locale.ROOT, "%,.0f (%,.0f to %,.0f)", added(all, off, 99).value(),
							added(all, off, 99).low(), added(all, off, 99).high()),
					String.format(Locale.ROOT, "%.2f %%", 100 * failed(all)));
			List<double[]> points = new ArrayList<>();
			for (int turn = 0; turn < all.size(); turn++) {
				points.add(new double[] { turn + 1, all.get(turn).micros(99) });
			}
			plot.line(route, points);
		});
		plot.write(setting.folder().file("experiment-6.svg"));
		List<Verdict> verdicts = List.of(verdict("strict", 1_000, tallies, off), verdict("leased", 100, tallies, off));
		return new LabResult("Experiment 6: what a protected service pays", machine, List.of(table, responses),
				verdicts, bottleneck,
				List.of("Added: the difference to the plain route in the same turn, so what the machine does to both cancels out."));
	}

	private static Verdict verdict(String route, double micros, Map<String, List<Tally>> tallies, List<Tally> off) {
		String name = String.format(Locale.ROOT, "%s adds at most %.1f ms to p99", route, micros / 1e3);
		List<Tally> all = tallies.getOrDefault(route, List.of());
		if (failed(all) > FAILED) {
			return Verdict.unresolvable(name,
					String.format(Locale.ROOT, "%.1f %% failed or degraded", 100 * failed(all)));
		}
		return Verdict.atMost(name, added(all, off, 99), micros, "µs");
	}

	private static Median added(List<Tally> all, List<Tally> off, double percentile) {
		double[] added = new double[all.size()];
		for (int turn = 0; turn < added.length; turn++) {
			added[turn] = all.get(turn).micros(percentile) - off.get(turn).micros(percentile);
		}
		return Median.of(added);
	}

	private static String number(List<Tally> all, double percentile) {
		return String.format(Locale.ROOT, "%,.0f",
				Median.of(all.stream().mapToDouble((each) -> each.micros(percentile)).toArray()).value());
	}

	private static double failed(List<Tally> all) {
		return all.stream().mapToDouble((each) -> each.share(Contender.Outcome.FAILED)).average().orElse(1);
	}

}
