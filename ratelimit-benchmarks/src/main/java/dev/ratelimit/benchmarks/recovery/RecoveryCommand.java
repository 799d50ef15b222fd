package dev.ratelimit.benchmarks.recovery;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleSupplier;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.common.RunOptions;
import dev.ratelimit.benchmarks.gateway.LeasedGateway;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.peers.Ours;

/**
 * Full load on leases from the first moment of an instance, and through a Redis that
 * stands still: how many seconds until at least 99 % of the decisions are not degraded.
 * In-process the code is warm and the instance is not; a gateway starts cold, as in
 * production.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar recovery --quick}
 */
@Command(name = "recovery", description = "How soon leases serve full load after a start and after an outage.",
		mixinStandardHelpOptions = true)
public final class RecoveryCommand implements Callable<Integer> {

	private static final int WARM_UP_SECONDS = 8;

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--gateway", description = "Through a gateway in a JVM of its own, over HTTP, not in-process.")
	private boolean gateway;

	@Option(names = "--rate", paramLabel = "N",
			description = "Checks a second, as far as the machine gets (default: 1000000, --gateway 2000).")
	private @Nullable Double rate;

	@Option(names = "--keys", paramLabel = "N",
			description = "Callers, each as busy as the others (default: 3000, --gateway 100).")
	private @Nullable Integer keys;

	@Option(names = "--limits", defaultValue = "1", paramLabel = "1..3",
			description = "Leased limits of a check in-process: user, IP, tenant of ten users "
					+ "(default: ${DEFAULT-VALUE}).")
	private int limits;

	@Option(names = "--threads", paramLabel = "N", description = "Threads that send (default: half of the processors).")
	private @Nullable Integer threads;

	@Option(names = "--connections", defaultValue = "64", paramLabel = "N",
			description = "Connections to the gateway, each with one request at a time (default: ${DEFAULT-VALUE}).")
	private int connections;

	@Option(names = "--stopped", defaultValue = "PT4S", paramLabel = "DURATION",
			description = "How long Redis stands still, in whole seconds (default: ${DEFAULT-VALUE}).")
	@SuppressWarnings("NullAway.Init")
	private Duration stopped;

	@Option(names = "--observe", paramLabel = "DURATION",
			description = "Time after the start, and after the return of Redis, in whole seconds "
					+ "(default: PT30S, quick PT10S).")
	private @Nullable Duration observe;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check (default: ${DEFAULT-VALUE}, as in an application).")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws Exception {
		double loadBefore = Machine.loadAverage();
		try (MeasuredRedis redis = this.options.openRedis()) {
			RecoveryReport report = this.gateway ? throughGateway(redis, loadBefore) : inProcess(redis, loadBefore);
			report.print(this.spec.commandLine().getOut());
			this.options.write(report);
			return report.passed() ? 0 : 1;
		}
	}

	private RecoveryReport inProcess(MeasuredRedis redis, double loadBefore) throws Exception {
		DoubleSupplier processor = () -> Machine.now().ownSeconds();
		try (Ours limiter = inProcess(redis)) {
			load(limiter, processor).run(WARM_UP_SECONDS, (start) -> {
			});
		}
		redis.flush();
		try (Ours limiter = inProcess(redis)) {
			return measure(redis, load(limiter, processor), "in-process", loadBefore);
		}
	}

	private Ours inProcess(MeasuredRedis redis) {
		return new Ours(redis.uri(), policy(), keys(), this.deadline);
	}

	private Policy policy() {
		PolicyBuilder policy = Policy.builder(Ours.POLICY).enforcement(Enforcement.LEASED);
		for (Dimension by : List.of(Dimension.USER, Dimension.IP, Dimension.TENANT).subList(0, this.limits)) {
			policy.limit("per-" + by.name(), List.of(by), "60000000/m");
		}
		return policy.build();
	}

	private RecoveryReport throughGateway(MeasuredRedis redis, double loadBefore) throws Exception {
		try (LeasedGateway gateway = new LeasedGateway(redis.uri(), keys(), this.connections, this.deadline)) {
			return measure(redis, load(gateway, gateway::cpuSeconds), gateway.toString(), loadBefore);
		}
	}

	private PacedLoad load(Contender limiter, DoubleSupplier processor) {
		double rate = (this.rate != null) ? this.rate : this.gateway ? 2_000 : 1_000_000;
		int threads = (this.threads != null) ? this.threads : Math.max(1, Machine.cores() / 2);
		return new PacedLoad(limiter, keys(), threads, rate, processor);
	}

	private int keys() {
		return (this.keys != null) ? this.keys : this.gateway ? 100 : 3_000;
	}

	private RecoveryReport measure(MeasuredRedis redis, PacedLoad load, String through, double loadBefore)
			throws Exception {
		int stop = (int) observe().toSeconds();
		int goOn = stop + (int) this.stopped.toSeconds();
		List<PacedLoad.Second> all = load.run(goOn + stop, (start) -> {
			sleepUntil(start + Duration.ofSeconds(stop).toNanos());
			signal("STOP", redis);
			try {
				sleepUntil(start + Duration.ofSeconds(goOn).toNanos());
			}
			finally {
				signal("CONT", redis);
			}
		});
		redis.flush();
		return RecoveryReport.of(redis.toString(), through, Machine.cores(), loadBefore, keys(),
				this.gateway ? 1 : this.limits, RecoveryReport.Seconds.of(all, stop, goOn));
	}

	private Duration observe() {
		return (this.observe != null) ? this.observe : Duration.ofSeconds(this.options.quick() ? 10 : 30);
	}

	private static void sleepUntil(long time) {
		for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	private static void signal(String name, MeasuredRedis redis) throws IOException, InterruptedException {
		new ProcessBuilder("kill", "-" + name, String.valueOf(redis.pid())).inheritIO().start().waitFor();
	}

}
