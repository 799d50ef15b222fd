package dev.ratelimit.penalty;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Penalty;

/**
 * A caller that was refused under a policy with penalties: the key of its counter, and
 * its {@link Conduct}, which threads replace without a lock.
 */
final class Offender {

	private final CallerKey key;

	private final @Nullable CallerKey before;

	private final AtomicReference<Conduct> conduct = new AtomicReference<>(Conduct.NONE);

	/** Whether it waits to be reported. */
	private final AtomicBoolean queued = new AtomicBoolean();

	private volatile Penalty terms;

	/** When it was last reported; used by one thread. */
	private long reported;

	private boolean everReported;

	/** Whether something began that the fleet must know at once. */
	private volatile boolean urgent;

	/**
	 * Creates an offender.
	 * @param before its counter in the previous epoch, {@code null} if that cannot matter
	 */
	Offender(CallerKey key, @Nullable CallerKey before, Penalty terms) {
		this.key = key;
		this.before = before;
		this.terms = terms;
	}

	CallerKey key() {
		return this.key;
	}

	@Nullable CallerKey before() {
		return this.before;
	}

	Penalty terms() {
		return this.terms;
	}

	Conduct refused(long now, long wait, Conduct.@Nullable Central central, Penalty terms) {
		this.terms = terms;
		Conduct after = this.conduct.updateAndGet((before) -> before.refused(now, wait, central, terms));
		if (after.began() > 0) {
			this.urgent = true;
		}
		return after;
	}

	/** Takes what is to be reported. */
	Conduct take(long now) {
		this.reported = now;
		this.everReported = true;
		this.urgent = false;
		return this.conduct.getAndUpdate(Conduct::sent);
	}

	/** Forgets everything, also what waits to be reported. */
	void forget() {
		this.conduct.set(Conduct.NONE);
	}

	void learned(long offences, long age, long now) {
		this.conduct.updateAndGet((before) -> before.learned(offences, age, now));
	}

	/**
	 * Refusals that Redis must judge, and what has begun, do not wait; other offences
	 * wait for a second.
	 */
	boolean isDue(long now, long period) {
		return this.urgent || !this.everReported || now - this.reported >= period
				|| Objects.requireNonNull(this.conduct.get()).unsent().first() != null;
	}

	/** Whether there is something that the fleet does not know. */
	boolean hasNews() {
		return !Objects.requireNonNull(this.conduct.get()).unsent().isNothing();
	}

	/** Whether it was not queued before. */
	boolean queue() {
		return !this.queued.get() && this.queued.compareAndSet(false, true);
	}

	void dequeue() {
		this.queued.set(false);
	}

}
