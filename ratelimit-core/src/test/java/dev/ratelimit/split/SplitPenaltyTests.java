package dev.ratelimit.split;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Penalties compare times of refusals, so all of them must be of one clock: that of the
 * node with the counter's own key. Here each part is on a node whose clock is an hour
 * ahead of the one before.
 */
class SplitPenaltyTests {

	private static final long HOUR = Duration.ofHours(1).toNanos() / 1_000;

	private static final int PARTS = 4;

	private static final Counter WHOLE = new Counter(
			new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "4/m").withSplit(PARTS),
					Enforcement.STRICT, new LiveWindows(), false),
			new CounterKeys("rl"), "login", List.of("ann"));

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final Map<String, MemoryCounters> nodes = new HashMap<>();

	SplitPenaltyTests() {
		for (int part = 0; part < PARTS; part++) {
			long ahead = part * HOUR;
			this.nodes.put(WHOLE.part(part, PARTS).key(), new MemoryCounters(10, () -> this.now.get() + ahead));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 3, 4, 5, 6, 7 })
	void refusalHasTheTimeOfTheNodeWithTheKeyWhicheverPartIsAskedLast(int instance) {
		assertThat(refusal(instance, "").timeAtKey()).isEqualTo(this.now.get());
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 3, 4, 5, 6, 7 })
	void refusalWithoutAnAnswerOfThatNodeHasNoTime(int instance) {
		assertThat(refusal(instance, WHOLE.key()).timeAtKey()).isNegative();
	}

	/** A refusal by all parts but one that only a remembered refusal answers for. */
	private Reading refusal(int instance, String remembered) {
		FakeCounters counters = new FakeCounters(new MemoryCounters(1, this.now::get), (asked, permits, timeout) -> {
			Grant grant = this.nodes.get(asked.get(0).key()).acquire(asked, permits).toCompletableFuture().join();
			Grant central = FakeCounters.asRedis(grant, List.of());
			return CompletableFuture.completedStage((grant.refused() && asked.get(0).key().equals(remembered))
					? new Grant(permits, 0, grant.readings(), Decision.Source.DENIED_CACHE) : central);
		});
		SplitCounters split = new SplitCounters(counters, Splitting.CONFIGURED, instance);
		for (int i = 0; i < PARTS; i++) {
			assertThat(acquire(split).refused()).isFalse();
		}
		Grant refused = acquire(split);
		assertThat(refused.refused()).isTrue();
		return refused.readings().get(0);
	}

	private static Grant acquire(SplitCounters counters) {
		CompletableFuture<Grant> grant = new CompletableFuture<>();
		counters.acquire(List.of(WHOLE), Permits.exactly(1), null, Duration.ofSeconds(30), grant::complete);
		return grant.join();
	}

}
