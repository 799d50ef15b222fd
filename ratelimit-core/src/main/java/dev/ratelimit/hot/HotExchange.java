package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.counter.HotMark;
import dev.ratelimit.counter.HotStore;

/**
 * Tells the fleet about once a second what this instance is asked for most and refuses
 * most, and tells this instance what the fleet does. While the store does not answer the
 * fleet's counters are those last seen, for three seconds, and a mark holds until its
 * end.
 */
public final class HotExchange implements AutoCloseable {

	/**
	 * The most counters that can be exchanged: every instance reads them every second.
	 */
	public static final int MAX_TOP = 1_000;

	private static final Logger logger = LoggerFactory.getLogger(HotExchange.class);

	private static final long TIMEOUT_MILLIS = 500;

	private static final long STEP_NANOS = Duration.ofMillis(250).toNanos();

	private static final long STALE_NANOS = Duration.ofSeconds(3).toNanos();

	private final HotCounters counters;

	private final TopRefusals refusals;

	private final HotStore store;

	private final int top;

	private final LongSupplier nanos;

	private final Semaphore due = new Semaphore(0);

	private HotStore.View view = HotStore.View.NOTHING;

	private long seenAt;

	private boolean failing;

	private volatile boolean ended;

	private volatile Runnable listener = () -> {
	};

	private @Nullable Thread thread;

	/**
	 * Creates an exchange that has not begun.
	 * @param counters who counts checks here
	 * @param refusals who counts refusals here
	 * @param store what all instances share
	 * @param top how many counters are told and read
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

	public synchronized void start() {
		if (this.thread == null) {
			this.ended = false;
			this.thread = new Thread(this::run, "ratelimit-hotkeys");
			this.thread.setDaemon(true);
			this.thread.start();
		}
	}

	@Override
	public synchronized void close() {
		if (this.thread != null) {
			this.ended = true;
			this.due.release();
			try {
				this.thread.join(2 * TIMEOUT_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			this.thread = null;
		}
	}

	/**
	 * Marks a counter as hot for the whole fleet, which knows it within about a second;
	 * this instance at once.
	 * @return {@code false} if too many are marked
	 */
	public CompletionStage<Boolean> mark(HotMark mark) {
		return this.store.put(mark).whenComplete((put, failure) -> this.due.release());
	}

	/**
	 * Marks a counter unless it is marked.
	 * @return {@code false} if it is, or if too many are
	 */
	CompletionStage<Boolean> claim(HotMark mark) {
		return this.store.claim(mark);
	}

	/**
	 * Who is to look whenever there is something new.
	 */
	public void listen(Runnable listener) {
		this.listener = listener;
	}

	/**
	 * Takes a mark away.
	 * @param key of the counter
	 */
	public CompletionStage<Void> unmark(String key) {
		return this.store.remove(key).whenComplete((removed, failure) -> this.due.release());
	}

	private void run() {
		long pause = 0;
		while (!endedWithin(pause)) {
			try {
				this.view = this.store.exchange(this.counters.seen(this.top), this.refusals.seen(this.top), this.top)
					.toCompletableFuture()
					.get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
				this.seenAt = this.nanos.getAsLong();
				tell(this.view);
				this.failing = false;
				this.listener.run();
			}
			catch (ExecutionException | TimeoutException | RuntimeException ex) {
				failed(ex);
			}
			catch (InterruptedException ex) {
				return;
			}
			pause = this.view.next().toMillis();
		}
	}

	private void failed(Exception failure) {
		if (!this.failing) {
			this.failing = true;
			logger.debug("Counters of the fleet could not be read", failure);
		}
		long age = this.nanos.getAsLong() - this.seenAt;
		List<HotMark> marks = this.view.marks().stream().filter((mark) -> mark.left().toNanos() > age).toList();
		HotStore.View known = (age < STALE_NANOS) ? this.view : HotStore.View.NOTHING;
		tell(new HotStore.View(known.fleet(), known.refused(), marks, this.view.next()));
	}

	private void tell(HotStore.View view) {
		this.counters.told(view);
		this.refusals.told(view.refused());
	}

	/**
	 * Waits, and sees to it that intervals end meanwhile. Ends early when there is
	 * something to look at.
	 */
	private boolean endedWithin(long millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		try {
			for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
				long step = this.counters.turnIfDue();
				if (this.due.tryAcquire(Math.min(left, (step > 0) ? step : STEP_NANOS), TimeUnit.NANOSECONDS)) {
					this.due.drainPermits();
					return this.ended;
				}
			}
			return this.ended;
		}
		catch (InterruptedException ex) {
			return true;
		}
	}

}
