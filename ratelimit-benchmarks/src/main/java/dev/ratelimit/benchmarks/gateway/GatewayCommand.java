package dev.ratelimit.benchmarks.peers;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

import dev.ratelimit.testing.RedisServer;

/**
 * What a limit costs a gateway: how much of the throughput without any filter is kept,
 * and what becomes of the latency. Load and upstream are in this JVM, each gateway is in
 * a fresh one; variants take turns and the medians are reported.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar gateway --quick}
 */
@Command(name = "gateway", description = "A gateway with no filter, with ours and with its own, over HTTP.",
		mixinStandardHelpOptions = true)
public final class GatewayCommand implements Callable<Integer> {

	@Option(names = "--quick", description = "Shorter: ends within 6 minutes.")
	private boolean quick;

	@Option(names = "--only", split = ",", paramLabel = "VARIANT",
			description = "Only these: no-filter, ours-strict, ours-leased, scg.")
	private List<String> only = List.of();

	@Option(names = "--rounds", defaultValue = "3", paramLabel = "N",
			description = "How often each is measured (default: ${DEFAULT-VALUE}).")
	private int rounds;

	@Option(names = "--connections", defaultValue = "32", paramLabel = "N",
			description = "Connections, each with one call at a time (default: ${DEFAULT-VALUE}).")
	private int connections;

	@Option(names = "--warm-up", paramLabel = "DURATION",
			description = "Time for the compiler of each gateway (default: PT60S, quick PT45S).")
	private @Nullable Duration warmUp;

	@Option(names = "--measure", paramLabel = "DURATION",
			description = "Time of each measurement (default: PT10S, quick PT5S).")
	private @Nullable Duration measure;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check of ours (default: ${DEFAULT-VALUE}, as in an application).")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Option(names = "--json", paramLabel = "FILE", description = "Also writes results and ratios to a file.")
	private @Nullable File json;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		List<GatewayMeasurement> measured = new ArrayList<>();
		List<GatewayVariant> variants = variants();
		DisposableServer upstream = upstream();
		try (RedisServer redis = RedisServer.start();
				ServerProbe probe = new ServerProbe(redis.uri());
				Gateways gateways = new Gateways()) {
			for (GatewayVariant variant : variants) {
				System.err.printf("warming up %s for %d s%n", variant, warmUp().toSeconds());
				gateways
					.start(variant, variant.arguments(redis.uri(), upstream.port(), this.deadline), this.connections)
					.run(warmUp());
			}
			for (int round = 1; round <= this.rounds; round++) {
				for (WarmGateway gateway : gateways.all()) {
					System.err.printf("[%d/%d] round %d of %d: %s%n", measured.size() + 1,
							this.rounds * variants.size(), round, this.rounds, gateway.variant());
					GatewayMeasurement each = gateway.measure(measure(), probe);
					System.err.printf("        %,.0f requests/s, p99 %,.0f µs%n", each.throughput(), each.p99Micros());
					measured.add(each);
				}
			}
		}
		finally {
			upstream.disposeNow();
		}
		GatewayReport report = GatewayReport.of(measured);
		report.print(this.spec.commandLine().getOut());
		if (this.json != null) {
			new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(this.json, report);
		}
		return report.results().stream().allMatch(GatewayMeasurement::sound) ? 0 : 1;
	}

	private Duration warmUp() {
		return (this.warmUp != null) ? this.warmUp : Duration.ofSeconds(this.quick ? 45 : 60);
	}

	private Duration measure() {
		return (this.measure != null) ? this.measure : Duration.ofSeconds(this.quick ? 5 : 10);
	}

	private static DisposableServer upstream() {
		return HttpServer.create()
			.host("127.0.0.1")
			.port(0)
			.handle((request, response) -> response.sendString(Mono.just("ok")))
			.bindNow();
	}

	private List<GatewayVariant> variants() {
		return this.only.isEmpty() ? Arrays.asList(GatewayVariant.values())
				: this.only.stream().map(GatewayVariant::parse).toList();
	}

	/** Those that are up, until the end. */
	private static final class Gateways implements AutoCloseable {

		private final List<WarmGateway> gateways = new ArrayList<>();

		WarmGateway start(GatewayVariant variant, List<String> arguments, int connections) throws IOException {
			WarmGateway gateway = new WarmGateway(variant, arguments, connections);
			this.gateways.add(gateway);
			return gateway;
		}

		List<WarmGateway> all() {
			return this.gateways;
		}

		@Override
		public void close() {
			this.gateways.forEach(WarmGateway::close);
		}

	}

}
