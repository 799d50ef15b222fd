package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Loop;

/**
 * Exchanges the busiest and the most refusing counters with the fleet about once a
 * second. While the store does not answer, the fleet's counters are kept for three
 * seconds, and a mark holds until its end.
 */
public final class HotExchange implements AutoCloseable {

	/**
	 * The most counters that can be exchanged: every instance reads them every second.
	 */
	public static final int MAX_TOP = 1_000;

	private static final Logger logger = LoggerFactory.getLogger(HotExchange.class);

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	private static final long STEP_NANOS = Duration.ofMillis(250).toNanos();

	private static final long STALE_NANOS = Duration.ofSeconds(3).toNanos();

	private final HotCounters counters;

	private final TopRefusals refusals;

	private final HotStore store;

	private final int top;

	private final LongSupplier nanos;

	private final Loop loop = new Loop("ratelimit-hotkeys", this::turn);

	private final FailureLog failures = new FailureLog(logger, "The hot counters of the fleet could not be read ({})",
			"The hot counters of the fleet can be read again")
		.quiet();

	private final AtomicBoolean wanted = new AtomicBoolean(true);

	/** When the next exchange is due, by {@link System#nanoTime()}. */
	private long due;

	private HotStore.View view = HotStore.View.NOTHING;

	private long seenAt;

	private volatile Runnable listener = () -> {
	};

	/**
	 * Creates an exchange that is not started.
	 * @param counters counts checks in this instance
	 * @param refusals counts refusals in this instance
	 * @param store shared by all instances
	 * @param top how many counters are sent and read
	 * @param nanos a monotonic clock
	 */
	public HotExchange(HotCounters counters, TopRefusals refusals, HotStore store, int top, LongSupplier nanos) {
		if (top < 1 || top > MAX_TOP) {
			throw new IllegalArgumentException("top must be 1 to " + MAX_TOP + " but was " + top);
		}
		this.counters = counters;
		this.refusals = refusals;
		this.store = store;
		this.top = top;
		this.nanos = nanos;
	}

	public void start() {
		this.loop.start();
	}

	@Override
	public void close() {
		this.loop.end(TIMEOUT.multipliedBy(2));
	}

	/**
	 * Marks a counter as hot for the whole fleet, which learns it within about a second;
	 * this instance at once.
	 * @return {@code false} if too many are marked
	 */
	public CompletionStage<Boolean> mark(HotMark mark) {
		return this.store.put(mark).whenComplete((put, failure) -> exchangeNow());
	}

	/**
	 * Marks a counter that has no mark.
	 * @return {@code false} if it has one, or if too many counters are marked
	 */
	public CompletionStage<Boolean> claim(HotMark mark) {
		return this.store.claim(mark);
	}

	/**
	 * Adds a task that runs after each exchange.
	 */
	public void listen(Runnable listener) {
		this.listener = listener;
	}

	/**
	 * Removes a mark.
	 * @param key key of the counter
	 */
	public CompletionStage<Void> unmark(String key) {
		return this.store.remove(key).whenComplete((removed, failure) -> exchangeNow());
	}

	/** Exchanges when it is due, and in between lets the counters' intervals end. */
	private Duration turn() {
		long now = System.nanoTime();
		if (this.wanted.getAndSet(false) || now - this.due >= 0) {
			exchange();
			this.due = System.nanoTime() + this.view.next().toNanos();
		}
		long step = this.counters.turnIfDue();
		long left = Math.max(0, this.due - System.nanoTime());
		return Duration.ofNanos(Math.min(left, (step > 0) ? step : STEP_NANOS));
	}

	private void exchange() {
		try {
			this.view = Futures.await(
					this.store.exchange(this.counters.seen(this.top), this.refusals.seen(this.top), this.top), TIMEOUT);
			this.seenAt = this.nanos.getAsLong();
			spread(this.view);
			this.failures.worked();
			this.listener.run();
		}
		catch (RuntimeException ex) {
			failed(ex);
		}
	}

	private void failed(RuntimeException failure) {
		this.failures.failed(Futures.cause(failure).toString());
		long age = this.nanos.getAsLong() - this.seenAt;
		List<HotMark> marks = this.view.marks().stream().filter((mark) -> mark.left().toNanos() > age).toList();
		HotStore.View known = (age < STALE_NANOS) ? this.view : HotStore.View.NOTHING;
		spread(new HotStore.View(known.fleet(), known.refused(), marks, this.view.next()));
	}

	private void spread(HotStore.View view) {
		this.counters.learn(view);
		this.refusals.learn(view.refused());
	}

	private void exchangeNow() {
		this.wanted.set(true);
		this.loop.wake();
	}

}
