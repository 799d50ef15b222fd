package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Refusals are noticed on threads that must not block, under the eyes of BlockHound.
 */
class RefusalRecorderBlockingTests {

	private static final Limit LIMIT = Limit.of("per-user", List.of(Dimension.USER), "10/m");

	private static final Decision REFUSED = new Decision("orders", 0, false, Decision.Outcome.REFUSED,
			Decision.Reason.LIMITS, Decision.Source.REDIS, false, null, 1, 0,
			List.of(new LimitStatus(LIMIT, LIMIT.quotas().get(0), 0, 60_000_000, 6_000_000, 6_000_000)),
			Receipt.NOTHING);

	@BeforeAll
	static void watch() {
		BlockHound.install();
	}

	@Test
	void floodOfRefusalsBlocksNobody() {
		RefusalOptions options = new RefusalOptions(10, 1000, 100, 3, 1000, Duration.ofHours(24));
		MemoryHistory history = new MemoryHistory(1_000, Duration.ofHours(24), InstantSource.system());
		int callers = 20_000;
		try (RefusalRecorder recorder = new RefusalRecorder(options, history,
				new CallerNames((dimension, value) -> "#", 64), "one",
				(policy) -> new RefusalContext(List.of(), 0, 100, null, Duration.ZERO), InstantSource.system(),
				System::nanoTime)) {
			recorder.start();
			Flux.range(0, 4)
				.parallel(4)
				.runOn(Schedulers.parallel())
				.doOnNext((thread) -> flood(recorder, callers))
				.sequential()
				.blockLast(Duration.ofSeconds(60));
			assertThat(recorder.missing()).isPositive();
		}
	}

	private static void flood(RefusalRecorder recorder, int callers) {
		for (int i = 0; i < callers; i++) {
			recorder.decided(Request.of("orders").with(Dimension.USER, "u" + i), REFUSED, 0);
			recorder.decided(Request.of("orders").with(Dimension.USER, "attacker"), REFUSED, 0);
		}
	}

}
