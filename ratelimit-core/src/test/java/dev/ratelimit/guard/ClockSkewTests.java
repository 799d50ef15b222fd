package dev.ratelimit.guard;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class ClockSkewTests {

	private static final Counter COUNTER = HandDrivenNodes.counter("a/1/x");

	private final HandDrivenNodes shards = new HandDrivenNodes();

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final AtomicLong skew = new AtomicLong(Long.MIN_VALUE);

	private final GuardedCounters counters = new GuardedCounters(this.shards,
			new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of(new NodeListener() {

				@Override
				public void answered(String node, long nanos, long skewMicros) {
					ClockSkewTests.this.skew.set(skewMicros);
				}

			})), this.deadlines, Duration.ZERO);

	@AfterEach
	void close() {
		this.deadlines.close();
	}

	@ParameterizedTest
	@ValueSource(longs = { -3600, 0, 3600 })
	void nodeWhoseClockIsOffIsToldWithHowFar(long seconds) {
		this.counters.acquire(List.of(COUNTER), Permits.exactly(1), Duration.ofMinutes(1));
		HandDrivenNodes.Call call = this.shards.calls.get(0);
		long time = System.currentTimeMillis() * 1_000 + TimeUnit.SECONDS.toMicros(seconds);
		call.asked()
			.answered(new Grant(call.asked().permits(), 1, List.of(new Reading(COUNTER, new long[0], time)),
					Decision.Source.REDIS));
		assertThat(this.skew.get()).isCloseTo(TimeUnit.SECONDS.toMicros(seconds), within(TimeUnit.SECONDS.toMicros(5)));
	}

}
