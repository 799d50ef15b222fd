package dev.ratelimit.benchmarks.recovery;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

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
import dev.ratelimit.benchmarks.peers.Ours;

/**
 * Full load on leases from the first moment of an instance, and through a Redis that
 * stands still: how many seconds until at least 99 % of the decisions are not degraded.
 * The code is warm, the instance is not.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar recovery --quick}
 */
@Command(name = "recovery", description = "How soon leases serve full load after a start and after an outage.",
		mixinStandardHelpOptions = true)
public final class RecoveryCommand implements Callable<Integer> {

	private static final double ENFORCED = 0.99;

	/** What is promised. */
	private static final int WITHIN_SECONDS = 5;

	private static final int WARM_UP_SECONDS = 8;

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--rate", defaultValue = "1000000", paramLabel = "N",
			description = "Checks a second, as far as the machine gets (default: ${DEFAULT-VALUE}).")
	private double rate;

	@Option(names = "--keys", defaultValue = "3000", paramLabel = "N",
			description = "Callers, each as busy as the others (default: ${DEFAULT-VALUE}).")
	private int keys;

	@Option(names = "--limits", defaultValue = "1", paramLabel = "1..3",
			description = "Leased limits of a check: user, IP, tenant of ten users (default: ${DEFAULT-VALUE}).")
	private int limits;

	@Option(names = "--threads", paramLabel = "N", description = "Threads that send (default: half of the processors).")
	private @Nullable Integer threads;

	@Option(names = "--stopped", defaultValue = "PT4S", paramLabel = "DURATION",
			description = "How long Redis stands still (default: ${DEFAULT-VALUE}).")
	@SuppressWarnings("NullAway.Init")
	private Duration stopped;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check (default: ${DEFAULT-VALUE}, as in an application).")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Override
	public Integer call() throws Exception {
		int after = this.options.quick() ? 10 : 30;
		try (MeasuredRedis redis = this.options.openRedis()) {
			run(redis, WARM_UP_SECONDS, (start) -> {
			});
			redis.flush();
			int stopAt = after;
			int seconds = stopAt + (int) this.stopped.toSeconds() + after;
			List<PacedLoad.Second> measured = run(redis, seconds, (start) -> {
				sleepUntil(start + Duration.ofSeconds(stopAt).toNanos());
				signal("STOP", redis);
				try {
					sleepUntil(start + Duration.ofSeconds(stopAt).plus(this.stopped).toNanos());
				}
				finally {
					signal("CONT", redis);
				}
			});
			redis.flush();
			Report report = new Report(redis.toString(), Machine.cores(), Machine.loadAverage(), this.keys, this.limits,
					measured.stream().mapToLong(PacedLoad.Second::sent).sum() / seconds,
					enforcedAfter(measured.subList(0, stopAt)),
					enforcedAfter(measured.subList(seconds - after, seconds)), measured);
			report.print(this.spec.commandLine().getOut());
			this.options.write(report);
			return report.passed() ? 0 : 1;
		}
	}

	private List<PacedLoad.Second> run(MeasuredRedis redis, int seconds, PacedLoad.Interruption meanwhile)
			throws Exception {
		int threads = (this.threads != null) ? this.threads : Math.max(1, Machine.cores() / 2);
		try (Ours limiter = new Ours(redis.uri(), policy(), this.keys, this.deadline)) {
			return new PacedLoad(limiter, this.keys, threads, this.rate).run(seconds, meanwhile);
		}
	}

	private Policy policy() {
		PolicyBuilder policy = Policy.builder(Ours.POLICY).enforcement(Enforcement.LEASED);
		for (Dimension by : List.of(Dimension.USER, Dimension.IP, Dimension.TENANT).subList(0, this.limits)) {
			policy.limit("per-" + by.name(), List.of(by), "60000000/m");
		}
		return policy.build();
	}

	/** Seconds after which all that follow are enforced; their number if none is. */
	private static int enforcedAfter(List<PacedLoad.Second> seconds) {
		int after = seconds.size();
		while (after > 0 && seconds.get(after - 1).undegraded() >= ENFORCED) {
			after--;
		}
		return after;
	}

	private static void sleepUntil(long time) {
		for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	private static void signal(String name, MeasuredRedis redis) throws Exception {
		new ProcessBuilder("kill", "-" + name, String.valueOf(redis.pid())).inheritIO().start().waitFor();
	}

	/**
	 * What was measured.
	 *
	 * @param rate checks a second that were sent
	 * @param startSeconds seconds after the start until all that follow are enforced
	 * @param returnSeconds the same after the return of Redis
	 */
	record Report(String redis, int cores, double loadAverage, int keys, int limits, long rate, int startSeconds,
			int returnSeconds, List<PacedLoad.Second> seconds) {

		boolean passed() {
			return this.startSeconds <= WITHIN_SECONDS && this.returnSeconds <= WITHIN_SECONDS;
		}

		void print(PrintWriter out) {
			out.printf("%s, %d cores, load %.1f; %,d keys, %d leased limits, %,d checks/s%n", this.redis, this.cores,
					this.loadAverage, this.keys, this.limits, this.rate);
			for (int i = 0; i < this.seconds.size(); i++) {
				PacedLoad.Second second = this.seconds.get(i);
				out.printf(Locale.ROOT, "%3d s %,10d checks %6.2f %% undegraded, %.2f processors%n", i + 1,
						second.sent(), 100 * second.undegraded(), second.processor());
			}
			out.printf("Below 99 %% undegraded for %d s after the start, %d s after the return of Redis (must: %d)%n",
					this.startSeconds, this.returnSeconds, WITHIN_SECONDS);
			out.flush();
		}

	}

}
