package dev.ratelimit.benchmarks.gen;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RunOptions;
import dev.ratelimit.benchmarks.common.TimeLeft;
import dev.ratelimit.benchmarks.gateway.GatewayProcess;
import dev.ratelimit.benchmarks.gateway.Upstream;
import dev.ratelimit.benchmarks.load.Arrival;
import dev.ratelimit.benchmarks.load.Arrivals;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.HttpConnections;
import dev.ratelimit.benchmarks.load.OpenLoop;
import dev.ratelimit.benchmarks.load.Tally;
import dev.ratelimit.benchmarks.load.Traffic;

/**
 * Sends requests to a gateway on this machine by a schedule that depends on nothing but
 * its options: the same seed sends the same requests at the same times.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar gen --quick}
 */
@Command(name = "gen", description = "Sends requests to a gateway on the loopback, by a schedule that can be repeated.",
		mixinStandardHelpOptions = true)
public final class GenCommand implements Callable<Integer> {

	/** Requests in turn that are not degraded. */
	private static final int WARM_UP = 200;

	private static final long WARM_UP_NANOS = 20_000_000_000L;

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--url", paramLabel = "URL",
			description = "Where to, on the loopback; {key}, {ip} and {cost} stand for those of each request "
					+ "(default: a gateway that is started with its Redis).")
	private @Nullable String url;

	@Option(names = "--header", paramLabel = "LINE", defaultValue = "X-Forwarded-For: {ip}",
			description = "A header of each request, with the same words; may be repeated (default: ${DEFAULT-VALUE}).")
	private List<String> headers = List.of();

	@Option(names = "--rate", paramLabel = "N", defaultValue = "500",
			description = "Requests per second (default: ${DEFAULT-VALUE}).")
	private double rate;

	@Option(names = "--duration", paramLabel = "DURATION",
			description = "How long requests are due (default: PT30S, quick PT2S).")
	private @Nullable Duration duration;

	@Option(names = "--seed", paramLabel = "N", defaultValue = "1",
			description = "Of callers and costs (default: ${DEFAULT-VALUE}).")
	private long seed;

	@Option(names = "--keys", paramLabel = "N", defaultValue = "5000000",
			description = "Callers (default: ${DEFAULT-VALUE}, the most).")
	private int keys;

	@Option(names = "--skew", paramLabel = "S", defaultValue = "1.2",
			description = "Exponent of Zipf's law (default: ${DEFAULT-VALUE}).")
	private double skew;

	@Option(names = "--costly", paramLabel = "SHARE", defaultValue = "0.05",
			description = "Share of the requests that cost 5 to 50 permits, evenly drawn; the others cost 1 "
					+ "(default: ${DEFAULT-VALUE}).")
	private double costly;

	@Option(names = "--hot", paramLabel = "N", defaultValue = "0",
			description = "Hot callers, which send at a rate of their own (default: ${DEFAULT-VALUE}).")
	private int hot;

	@Option(names = "--over-limit", paramLabel = "FACTOR", defaultValue = "1.5",
			description = "The rate of a hot caller, as a factor of the limit (default: ${DEFAULT-VALUE}).")
	private double overLimit;

	@Option(names = "--limit", paramLabel = "N", defaultValue = "100",
			description = "Permits per second of a caller, for the rate of the hot ones (default: ${DEFAULT-VALUE}).")
	private double limit;

	@Option(names = "--log", paramLabel = "FILE",
			description = "Sends an access log in the combined format again, instead of generated requests.")
	private @Nullable Path log;

	@Option(names = "--speed", paramLabel = "FACTOR", defaultValue = "1",
			description = "How many times as fast as the log (default: ${DEFAULT-VALUE}).")
	private double speed;

	@Option(names = "--connections", paramLabel = "N", defaultValue = "64",
			description = "At most, each with one request at a time (default: ${DEFAULT-VALUE}).")
	private int connections;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check in the gateway that is started (default: ${DEFAULT-VALUE}, as in an application).")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Option(names = "--hdr", paramLabel = "FILE", description = "Also writes the latencies as an HdrHistogram log.")
	private @Nullable File hdr;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		Plan plan;
		try {
			plan = (this.log != null) ? replay(AccessLog.read(this.log)) : generated();
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(this.spec.commandLine(), String.valueOf(ex.getMessage()), ex);
		}
		GenReport report;
		if (this.url != null) {
			report = run(plan, this.url, false);
		}
		else {
			try (MeasuredRedis redis = this.options.openRedis();
					Upstream upstream = Upstream.start();
					GatewayProcess gateway = new GatewayProcess(redis.uri(), upstream.port(), this.deadline, costs())) {
				report = run(plan, "http://127.0.0.1:" + gateway.port()
						+ ((this.log != null) ? "/generated" : "/generated/{cost}"), true);
				redis.flush();
			}
		}
		report.print(this.spec.commandLine().getOut());
		this.options.write(report);
		return 0;
	}

	/** The gateway that is started takes the cost from the path. */
	private static String[] costs() {
		return Stream.iterate(Traffic.MIN_COST, (cost) -> cost <= Traffic.MAX_COST, (cost) -> cost + 1)
			.map((cost) -> "--ratelimit.policies.generated.costs.[/generated/" + cost + "]=" + cost)
			.toArray(String[]::new);
	}

	private Plan generated() {
		Duration time = (this.duration != null) ? this.duration : Duration.ofSeconds(this.options.quick() ? 2 : 30);
		Traffic traffic = new Traffic(this.seed, this.rate, this.keys, this.skew, this.hot,
				(this.hot > 0) ? this.overLimit * this.limit : 0, this.costly);
		String text = String.format(Locale.ROOT,
				"seed %d: %,.0f/s from %,d callers, Zipf %.2f, %.0f %% cost %d to %d%s", this.seed, this.rate,
				this.keys, this.skew, 100 * this.costly, Traffic.MIN_COST, Traffic.MAX_COST,
				(this.hot > 0) ? String.format(Locale.ROOT, ", %d hot ones at %.2f times their limit of %.0f/s",
						this.hot, this.overLimit, this.limit) : "");
		return new Plan(traffic.arrivals(time.toNanos()), RequestTemplate::encode, text, this.rate, time);
	}

	private Plan replay(AccessLog entries) {
		Duration time = Duration.ofMillis((long) (entries.seconds() * 1_000 / this.speed));
		String text = String.format(Locale.ROOT, "%s at %.1f times its speed, %,d lines skipped", this.log, this.speed,
				entries.skipped());
		return new Plan(entries.arrivals(this.speed),
				(template, arrival) -> template.encode(entries.requests().get(arrival.key())), text,
				entries.requests().size() * 1e3 / time.toMillis(), time);
	}

	private GenReport run(Plan plan, String to, boolean cold) throws IOException {
		RequestTemplate template;
		try {
			template = RequestTemplate.of(to, this.headers);
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(this.spec.commandLine(), String.valueOf(ex.getMessage()), ex);
		}
		Recorded recorded = new Recorded(plan.arrivals());
		try (HttpConnections http = new HttpConnections(template.server(), this.connections)) {
			if (cold) {
				warmUp(http, template);
			}
			TimeLeft left = new TimeLeft("gen", plan.time().toNanos());
			Tally tally = new OpenLoop(
					(arrival, answer) -> http.send(plan.encoding().encode(template, arrival), answer), recorded)
				.run(left::at);
			left.at(plan.time().toNanos());
			if (this.hdr != null) {
				tally.writeLog(this.hdr);
			}
			return GenReport.of(to, plan.text(), recorded, plan.rate(), tally);
		}
	}

	/**
	 * Asks one after the other until a gateway that has just started keeps its deadline.
	 */
	private static void warmUp(HttpConnections http, RequestTemplate template) {
		long end = System.nanoTime() + WARM_UP_NANOS;
		for (int inTurn = 0; inTurn < WARM_UP && System.nanoTime() - end < 0;) {
			CompletableFuture<Contender.Outcome> outcome = new CompletableFuture<>();
			http.send(template.encode(new Arrival(0, Traffic.MAX_KEYS - 1 - inTurn, 1)), outcome::complete);
			inTurn = (outcome.join() == Contender.Outcome.FAILED) ? 0 : inTurn + 1;
		}
	}

	private interface Encoding {

		ByteBuf encode(RequestTemplate template, Arrival arrival);

	}

	private record Plan(Arrivals arrivals, Encoding encoding, String text, double rate, Duration time) {
	}

}
