package dev.ratelimit.benchmarks.grpc;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RoundOptions;
import dev.ratelimit.benchmarks.common.RunOptions;
import dev.ratelimit.benchmarks.load.Tally;

/**
 * Checks over one gRPC connection to a server in a JVM of its own: how many a second,
 * what they cost client, server and Redis, and how a Unix domain socket compares with
 * TCP. In every round each case has its turn.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar grpc --quick}
 */
@Command(name = "grpc", description = "Checks over one gRPC connection: throughput, latency, processor time.",
		mixinStandardHelpOptions = true,
		footer = "Defaults: --warm-up PT10S (quick PT4S), --measure PT5S (quick PT2S).")
public final class GrpcCommand implements Callable<Integer> {

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--only", split = ",", paramLabel = "CASE", description = "Only these cases: unary-leased, "
			+ "unary-strict, many-leased, many-strict, lone-tcp, lone-unix, eight-tcp, eight-unix.")
	private List<String> only = List.of();

	@Mixin
	private RoundOptions rounds = new RoundOptions();

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws IOException {
		double loadBefore = Machine.loadAverage();
		Duration warmUp = this.rounds.warmUp(this.options.quick() ? 4 : 10);
		Duration measure = this.rounds.measure(this.options.quick() ? 2 : 5);
		int rounds = this.rounds.rounds();
		List<Case> cases = Case.all()
			.stream()
			.filter((each) -> this.only.isEmpty() || this.only.contains(each.id()))
			.toList();
		if (cases.isEmpty()) {
			throw new IllegalArgumentException("none of these cases can be measured: " + this.only);
		}
		try (MeasuredRedis redis = this.options.openRedis(); Lab lab = new Lab(redis, cases, this.rounds.deadline())) {
			cases.forEach((each) -> lab.measure(each, warmUp));
			List<List<Measurement>> measured = cases.stream()
				.map((each) -> (List<Measurement>) new ArrayList<Measurement>())
				.toList();
			for (int round = 1; round <= rounds; round++) {
				for (int i = 0; i < cases.size(); i++) {
					Measurement each = lab.measure(cases.get(i), measure);
					measured.get(i).add(each);
					System.err.printf(Locale.ROOT, "round %d of %d: %s %,.0f checks/s%n", round, rounds, each.id(),
							each.throughput());
				}
			}
			Report report = Report.of(new Report.Environment(redis.toString(), Runtime.version().toString(),
					Machine.cores(), loadBefore, rounds, measure.toMillis() / 1e3), measured);
			report.print(this.spec.commandLine().getOut());
			this.options.write(report);
			redis.flush();
			return report.passed() ? 0 : 1;
		}
	}

	/**
	 * Redis, a server on TCP and, if a case needs it, one on a Unix domain socket.
	 */
	private static final class Lab implements AutoCloseable {

		private final MeasuredRedis redis;

		private final @Nullable Connection tcp;

		private final @Nullable Connection unix;

		Lab(MeasuredRedis redis, List<Case> cases, Duration deadline) throws IOException {
			this.redis = redis;
			this.tcp = cases.stream().allMatch(Case::unix) ? null : Connection.tcp(redis.uri(), deadline);
			try {
				this.unix = cases.stream().anyMatch(Case::unix) ? Connection.unix(redis.uri(), deadline) : null;
			}
			catch (IOException | RuntimeException ex) {
				close(this.tcp);
				throw ex;
			}
		}

		Measurement measure(Case measured, Duration duration) {
			Connection connection = measured.unix() ? this.unix : this.tcp;
			if (connection == null) {
				throw new IllegalStateException("no server for " + measured.id());
			}
			double redisBefore = this.redis.cpuSeconds();
			double serverBefore = connection.serverSeconds();
			Machine before = Machine.now();
			Tally tally = measured.load(connection).run(duration);
			Machine machine = Machine.now().since(before);
			return Measurement.of(measured, tally, machine, connection.serverSeconds() - serverBefore,
					this.redis.cpuSeconds() - redisBefore);
		}

		private static void close(@Nullable Connection connection) {
			if (connection != null) {
				connection.close();
			}
		}

		@Override
		public void close() {
			close(this.tcp);
			close(this.unix);
		}

	}

}
