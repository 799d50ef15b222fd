package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

class LocalHotStoreTests {

	private final AtomicLong nanos = new AtomicLong();

	private final LocalHotStore store = new LocalHotStore(this.nanos::get);

	@Test
	void fleetIsThisInstance() {
		List<HotKey> seen = List.of(new HotKey(name("a"), 30), new HotKey(name("b"), 20), new HotKey(name("c"), 10));
		assertThat(join(this.store.exchange(seen, List.of(), 2)).fleet()).isEqualTo(seen.subList(0, 2));
	}

	@Test
	void markHoldsUntilItsEnd() {
		HotMark mark = new HotMark(name("a"), Duration.ofSeconds(10), "ann", "");
		assertThat(join(this.store.put(mark))).isTrue();
		this.nanos.addAndGet(Duration.ofSeconds(9).toNanos());
		assertThat(marks()).containsExactly(mark.withLeft(Duration.ofSeconds(1)));
		this.nanos.addAndGet(Duration.ofSeconds(1).toNanos());
		assertThat(marks()).isEmpty();
	}

	@Test
	void markIsTakenAway() {
		join(this.store.put(new HotMark(name("a"), Duration.ofSeconds(10), "ann", "")));
		join(this.store.remove("a"));
		assertThat(marks()).isEmpty();
	}

	@Test
	void numberOfMarksIsBounded() {
		for (int i = 0; i < HotStore.MAX_MARKS; i++) {
			assertThat(join(this.store.put(new HotMark(name("k" + i), Duration.ofSeconds(10), "ann", "")))).isTrue();
		}
		assertThat(join(this.store.put(new HotMark(name("more"), Duration.ofSeconds(10), "ann", "")))).isFalse();
	}

	private List<HotMark> marks() {
		return join(this.store.exchange(List.of(), List.of(), 10)).marks();
	}

	private static CounterName name(String key) {
		return new CounterName(key, "orders", "per-tenant", key.hashCode());
	}

}
