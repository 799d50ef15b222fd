package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances that lease from one Redis, as fast as they can and far above the limit.
 */
class LeasedFleetIntegrationTests {

	private static final long PER_SECOND = 20_000;

	private static final Duration LONG_ENOUGH = Duration.ofSeconds(2);

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 4 })
	void fleetStaysWithinTheStatedBoundAndGetsWhatItPaidFor(int instances) {
		RedisCounters redis = Connections.standalone();
		Limit limit = Limit.of("per-tenant", List.of(Dimension.TENANT), PER_SECOND + "/s");
		Counter counter = new Counter(new CounterSpec(Algorithm.GCRA, limit, Enforcement.LEASED), new CounterKeys("rl"),
				"orders", List.of("acme"));
		AtomicLong admitted = new AtomicLong();
		AtomicLong leased = new AtomicLong();
		long start = System.nanoTime();
		CompletableFuture<?>[] fleet = IntStream.range(0, instances)
			.mapToObj((i) -> new LeasedCounters(Connections.guarded(redis), LeaseOptions.DEFAULTS, () -> instances,
					(any) -> true, (permits) -> {
					}, System::nanoTime))
			.map((instance) -> CompletableFuture.runAsync(() -> {
				while (System.nanoTime() - start < LONG_ENOUGH.toNanos()) {
					Grant grant = instance.acquire(List.of(counter), Permits.exactly(1)).toCompletableFuture().join();
					admitted.addAndGet(grant.permits());
					leased.addAndGet((grant.source() == Decision.Source.LEASE) ? 1 : 0);
				}
			}, (task) -> new Thread(task).start()))
			.toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(fleet).join();
		double seconds = (System.nanoTime() - start) / 1e9;
		assertThat((double) admitted.get()).isLessThanOrEqualTo(PER_SECOND + PER_SECOND * (seconds + 1));
		assertThat((double) admitted.get()).isGreaterThanOrEqualTo(0.8 * PER_SECOND * seconds);
		assertThat(leased.get()).isGreaterThan(admitted.get() / 2);
	}

}
