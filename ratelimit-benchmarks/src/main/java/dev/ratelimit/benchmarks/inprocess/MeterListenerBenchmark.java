package dev.ratelimit.benchmarks.inprocess;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.metrics.MeterListener;
import dev.ratelimit.policy.PolicySet;

/**
 * What it costs to meter a decision: to be below 100 ns and without allocation, with the
 * registry that Prometheus reads.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh MeterListenerBenchmark -prof gc}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class MeterListenerBenchmark {

	private static final Request ANN = Request.of("orders").with(Dimension.USER, "ann");

	private static final Limit LIMIT = Limit.of("per-user", List.of(Dimension.USER), "100/s");

	private final PolicySet policies = PolicySet.of(Policy.builder("orders").limit(LIMIT).build());

	private final MeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

	private final MeterListener listener = new MeterListener(this.registry, () -> this.policies, List.of(),
			Decision.Source.NONE);

	private final Decision allowed = decision(Decision.Outcome.ALLOWED, 0);

	private final Decision refused = decision(Decision.Outcome.REFUSED, 1_000);

	private static Decision decision(Decision.Outcome outcome, long retryAfterMicros) {
		Quota quota = LIMIT.quotas().get(0);
		List<LimitStatus> limits = List.of(new LimitStatus(LIMIT, quota, 0, 1, retryAfterMicros, 1));
		return new Decision("orders", 0, retryAfterMicros == 0, outcome, Decision.Reason.LIMITS, Decision.Source.REDIS,
				false, null, 1, 1, limits, Receipt.NOTHING);
	}

	/** {@code … jmh MeterListenerBenchmark.allowed} */
	@Benchmark
	@Threads(1)
	public void allowed() {
		this.listener.decided(ANN, this.allowed, 60_000);
	}

	/** {@code … jmh MeterListenerBenchmark.refused} */
	@Benchmark
	@Threads(1)
	public void refused() {
		this.listener.decided(ANN, this.refused, 60_000);
	}

	/** {@code … jmh MeterListenerBenchmark.allThreads} */
	@Benchmark
	@Threads(Threads.MAX)
	public void allThreads() {
		this.listener.decided(ANN, this.allowed, 60_000);
	}

}
