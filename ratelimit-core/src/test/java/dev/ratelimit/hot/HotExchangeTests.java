package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

class HotExchangeTests {

	private static final HotKey KEY = new HotKey(new CounterName("k", "orders", "per-tenant", 1), 20_000);

	private static final HotMark MARK = new HotMark(new CounterName("m", "orders", "per-tenant", 2),
			Duration.ofSeconds(60), "ann", "");

	private static final RefusedKey REFUSED = new RefusedKey(new CounterName("r", "orders", "per-tenant", 3), 7);

	private final AtomicLong nanos = new AtomicLong();

	private final TopRefusals refusals = new TopRefusals(this.nanos::get);

	private final HotCounters counters = new HotCounters(10_000, 100, () -> 1, this.nanos::get);

	private final Store store = new Store();

	private final HotExchange exchange = new HotExchange(this.counters, this.refusals, this.store, 100,
			this.nanos::get);

	@AfterEach
	void end() {
		this.exchange.close();
	}

	@Test
	void whileTheStoreFailsTheSumHoldsForThreeSecondsAndMarksUntilTheirEnd() {
		this.exchange.start();
		await().until(() -> this.counters.top().size() == 2);
		this.store.broken = true;
		pass(Duration.ofMillis(2_900));
		assertThat(this.counters.top()).extracting(HotCounter::name).containsExactly(KEY.name(), MARK.name());
		assertThat(this.refusals.top()).containsExactly(REFUSED);
		pass(Duration.ofMillis(200));
		assertThat(this.counters.top()).extracting(HotCounter::name).containsExactly(MARK.name());
		assertThat(this.refusals.top()).isEmpty();
		pass(Duration.ofSeconds(60));
		assertThat(this.counters.top()).isEmpty();
		this.store.broken = false;
		await().until(() -> this.counters.top().size() == 2);
	}

	@Test
	void storeThatThrowsIsAskedAgain() {
		this.store.throwing = true;
		this.exchange.start();
		await().until(() -> this.store.calls.get() > 1);
		this.store.throwing = false;
		await().until(() -> this.counters.top().size() == 2);
	}

	@Test
	void topIsBounded() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new HotExchange(this.counters, this.refusals, this.store, 1_001, this.nanos::get))
			.withMessageContaining("1 to 1000");
	}

	/** Lets time go by and two exchanges see it: one may have been under way. */
	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
		int calls = this.store.calls.get();
		await().until(() -> this.store.calls.get() > calls + 2);
	}

	private static final class Store implements HotStore {

		final AtomicInteger calls = new AtomicInteger();

		volatile boolean broken;

		volatile boolean throwing;

		@Override
		public CompletionStage<View> exchange(List<HotKey> seen, List<RefusedKey> refused, int top) {
			this.calls.incrementAndGet();
			if (this.throwing) {
				throw new IllegalStateException("broken");
			}
			return this.broken ? CompletableFuture.failedStage(new IllegalStateException("away")) : CompletableFuture
				.completedStage(new View(List.of(KEY), List.of(REFUSED), List.of(MARK), Duration.ofMillis(5)));
		}

		@Override
		public CompletionStage<Boolean> put(HotMark mark) {
			return CompletableFuture.completedStage(true);
		}

		@Override
		public CompletionStage<Boolean> claim(HotMark mark) {
			return CompletableFuture.completedStage(true);
		}

		@Override
		public CompletionStage<Void> remove(String key) {
			return CompletableFuture.completedStage(null);
		}

	}

}
