package dev.ratelimit.split;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

class PartLevelsTests {

	private static final Limit LIMIT = Limit.of("per-tenant", List.of(Dimension.TENANT), "400/s", "4000/h");

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final Counters counters = new MemoryCounters(1_000, this.now::get);

	private final PartLevels levels = new PartLevels(this.counters);

	@ParameterizedTest
	@EnumSource
	void counterThatIsUsedUpHasNothingInAnyPart(Algorithm algorithm) {
		Counter whole = whole(algorithm, Limit.of("per-tenant", List.of(Dimension.TENANT), "400/h"));
		take(whole, 400);
		level(whole, 1, 4);
		assertThat(remaining(whole, 4)).containsExactly(0L);
	}

	@ParameterizedTest
	@EnumSource
	void longQuotaThatIsUsedUpIsUsedUpInEveryPart(Algorithm algorithm) {
		Counter whole = whole(algorithm, LIMIT);
		for (int i = 0; i < 10; i++) {
			take(whole, 400);
			this.now.addAndGet(2_000_000);
		}
		long left = remaining(whole, 1).get(1);
		level(whole, 1, 4);
		for (int i = 0; i < 4; i++) {
			assertThat(4 * remaining(whole.part(i, 4), 1).get(1)).isLessThanOrEqualTo(left);
		}
	}

	@Test
	void partsHaveTheShareOfEveryQuotaThatTheWholeHas() {
		Counter whole = whole(Algorithm.GCRA, LIMIT);
		for (int i = 0; i < 5; i++) {
			take(whole, 400);
			this.now.addAndGet(2_000_000);
		}
		take(whole, 100);
		List<Long> left = remaining(whole, 1);
		level(whole, 1, 4);
		List<Long> parts = remaining(whole, 4);
		assertThat(parts.get(0)).isBetween(left.get(0) - 8, left.get(0));
		assertThat(parts.get(1)).isBetween(left.get(1) - 8, left.get(1));
	}

	@Test
	void counterThatIsFullLosesNothing() {
		Counter whole = whole(Algorithm.GCRA, LIMIT);
		level(whole, 1, 4);
		assertThat(remaining(whole, 4)).containsExactly(400L, 4_000L);
	}

	@ParameterizedTest
	@EnumSource
	void wholeCounterHasWhatItsPartsHadLeft(Algorithm algorithm) {
		Counter whole = whole(algorithm, Limit.of("per-tenant", List.of(Dimension.TENANT), "400/h"));
		IntStream.range(1, 4).forEach((part) -> take(whole.part(part, 4), 100));
		level(whole, 4, 1);
		assertThat(remaining(whole, 1)).containsExactly(100L);
	}

	@Test
	void moreOrFewerPartsHaveTheSameShare() {
		Counter whole = whole(Algorithm.GCRA, Limit.of("per-tenant", List.of(Dimension.TENANT), "400/h"));
		IntStream.range(0, 2).forEach((part) -> take(whole.part(part, 2), 150));
		level(whole, 2, 8);
		assertThat(remaining(whole, 8).get(0)).isBetween(92L, 100L);
		level(whole, 8, 4);
		assertThat(remaining(whole, 4).get(0)).isBetween(84L, 100L);
	}

	@ParameterizedTest
	@EnumSource
	void windowThatOnlyOtherCallersHaveIsUsedUpInEveryPartToo(Algorithm algorithm) {
		Limit free = Limit.of("per-tenant", List.of(Dimension.TENANT), "400/s");
		Limit pro = Limit.of("per-tenant", List.of(Dimension.TENANT), "400/s", "800/d");
		LiveWindows live = new LiveWindows();
		live.set(pro.quotas().stream().map(LiveWindow::of).toList());
		Counter whole = new Counter(new CounterSpec(algorithm, free, Enforcement.STRICT, live), new CounterKeys("rl"),
				"orders", List.of("acme"));
		Counter ofPro = whole.with(new CounterSpec(algorithm, pro, Enforcement.STRICT, live));
		take(ofPro, 400);
		this.now.addAndGet(2_000_000);
		take(ofPro, 200);
		this.now.addAndGet(10_000_000);
		level(whole, 1, 4);
		assertThat(remaining(ofPro, 4).get(1)).isBetween(150L, 201L);
		this.now.addAndGet(10_000_000);
		level(whole, 4, 1);
		assertThat(remaining(ofPro, 1).get(1)).isBetween(140L, 201L);
	}

	@ParameterizedTest
	@EnumSource
	void useAboveASmallerQuotaOfTheSameWindowGoesAlong(Algorithm algorithm) {
		Limit free = Limit.of("per-tenant", List.of(Dimension.TENANT), "100/d");
		Limit pro = Limit.of("per-tenant", List.of(Dimension.TENANT), "1000/d");
		LiveWindows live = new LiveWindows();
		live.set(pro.quotas().stream().map(LiveWindow::of).toList());
		Counter whole = new Counter(new CounterSpec(algorithm, free, Enforcement.STRICT, live), new CounterKeys("rl"),
				"orders", List.of("acme"));
		Counter ofPro = whole.with(new CounterSpec(algorithm, pro, Enforcement.STRICT, live));
		take(ofPro, 500);
		level(whole, 1, 4);
		assertThat(remaining(ofPro, 4).get(0)).isBetween(370L, 501L);
	}

	private static Counter whole(Algorithm algorithm, Limit limit) {
		return new Counter(new CounterSpec(algorithm, limit), new CounterKeys("rl"), "orders", List.of("acme"));
	}

	private void level(Counter whole, int from, int to) {
		this.levels.level(whole, from, to).toCompletableFuture().join();
	}

	private void take(Counter counter, long permits) {
		assertThat(this.counters.acquire(List.of(counter), Permits.exactly(permits))
			.toCompletableFuture()
			.join()
			.permits()).isEqualTo(permits);
	}

	private List<Long> remaining(Counter whole, int parts) {
		return new SplitCounters(this.counters, (counter) -> parts, 0).read(List.of(whole))
			.toCompletableFuture()
			.join()
			.statuses()
			.stream()
			.map(LimitStatus::remaining)
			.toList();
	}

}
