package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.limiter.DifferentQuotasContract;

import static dev.ratelimit.counter.Grants.answered;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Different quotas on one counter, on a Redis.
 */
class DifferentQuotasIntegrationTests extends DifferentQuotasContract {

	@Override
	protected Counters counters(LongSupplier micros) {
		return Connections.guarded(Connections.standalone().at(micros));
	}

	/**
	 * One window keeps the entries of a second, the other the last 100 and 401 before.
	 */
	@Test
	void logOfManyPermitsInAShortWindowStaysShortBesideALongWindow() {
		AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);
		RedisCounters counters = Connections.standalone().at(micros::get);
		LiveWindows live = new LiveWindows();
		live.set(Stream.of("10000/s", "100/d").map(Quota::parse).map(LiveWindow::of).toList());
		Counter log = new Counter(new CounterSpec(Algorithm.SLIDING_WINDOW_LOG,
				Limit.of("per-tenant", List.of(Dimension.TENANT), "10000/s"), Enforcement.STRICT, live), "log");
		for (int i = 0; i < 1_200; i++) {
			micros.addAndGet(2_000);
			assertThat(answered(counters.acquire(List.of(log), Permits.exactly(1))).refused()).isFalse();
		}
		assertThat(Connections.standaloneConnection().sync().llen("log".getBytes(StandardCharsets.ISO_8859_1)))
			.isBetween(501L, 503L);
	}

}
