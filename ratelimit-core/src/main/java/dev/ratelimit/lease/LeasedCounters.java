package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Enforcement;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

/**
 * Counters that answer in-process what they can: by a refusal that still holds, or from
 * permits that were taken ahead. It stands outside the guard, so that what is paid for is
 * still spent while a breaker is open.
 *
 * <p>
 * A request spends of all its leases first; for the counters that have none Redis is
 * asked as ever, see {@link PartlyPaid}. Callers of different specs may share a counter:
 * what was leased or refused under one spec says nothing about the others, and a reset of
 * the counter drops it all.
 */
public final class LeasedCounters implements Counters, AutoCloseable {

	private static final Duration GOODBYE = Duration.ofMillis(500);

	private final Counters central;

	private final Predicate<Counter> hot;

	private final LongSupplier nanos;

	private final Refusals refusals;

	private final LocalCounters locals;

	private final LeaseCalls calls;

	/**
	 * Creates counters.
	 * @param central where permits come from
	 * @param options how they are taken ahead
	 * @param instances how many share them
	 * @param hot sees every counter that is not leased anyway, and says whether one that
	 * adapts is leased now
	 * @param listener sees leases
	 * @param nanos a monotonic clock
	 */
	public LeasedCounters(Counters central, LeaseOptions options, IntSupplier instances, Predicate<Counter> hot,
			LeaseListener listener, LongSupplier nanos) {
		this.central = central;
		this.hot = hot;
		this.nanos = nanos;
		this.refusals = new Refusals(options.maxCounters(), nanos.getAsLong());
		this.locals = new LocalCounters(options);
		this.calls = new LeaseCalls(central, this.locals, this.refusals, instances, listener, nanos);
	}

	@Override
	public Decision.Source source() {
		return this.central.source();
	}

	@Override
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		long now = this.nanos.getAsLong();
		Grant refused = this.refusals.find(counters, permits, now);
		if (refused != null) {
			return CompletableFuture.completedFuture(refused);
		}
		if (permits.most() == 0 || permits.unit() != permits.most()) {
			return this.calls.ask(counters, permits, timeout, now);
		}
		return spend(counters, permits, timeout, now);
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		grant.readings().forEach((reading) -> this.refusals.forget(reading.counter()));
		return this.central.giveBack(grant, permits);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		forget(counters);
		return this.central.reset(counters).thenRun(() -> forget(counters));
	}

	@Override
	public long held(Counter counter) {
		return this.locals.held(counter, this.nanos.getAsLong());
	}

	/**
	 * Drops what is known here of counters: their permits may be gone or be more.
	 */
	public void forget(List<Counter> counters) {
		this.refusals.forget(counters, this.nanos.getAsLong());
		counters.forEach(this.locals::forget);
	}

	/**
	 * Drops what is known here of counters that somebody else has reset. Looks at all
	 * there are, so it is not for a thread that is in a hurry.
	 */
	public void forget(Set<String> keys) {
		Predicate<Counter> which = (counter) -> keys.contains(counter.key());
		this.refusals.forget(which, this.nanos.getAsLong());
		this.locals.forget(which);
	}

	/**
	 * Drops all refusals: counters may have been reset without this instance hearing it.
	 */
	public void forgetRefusals() {
		this.refusals.forgetAll(this.nanos.getAsLong());
	}

	/**
	 * Drops everything that is known here.
	 */
	public void forgetAll() {
		forgetRefusals();
		this.locals.forgetAll();
	}

	/**
	 * Gives back what was not spent, and waits a moment for that to arrive.
	 */
	@Override
	public void close() {
		List<CompletableFuture<?>> givenBack = new ArrayList<>();
		for (Lease lease : this.locals.removeAll()) {
			long left = lease.end();
			if (left > 0 && !lease.isOver(this.nanos.getAsLong())) {
				givenBack.add(this.central.giveBack(lease.grant(), left).toCompletableFuture());
			}
		}
		CompletableFuture.allOf(givenBack.toArray(CompletableFuture<?>[]::new))
			.exceptionally((failure) -> null)
			.completeOnTimeout(null, GOODBYE.toMillis(), TimeUnit.MILLISECONDS)
			.join();
	}

	/**
	 * How many leased counters and refusals are known, with one for each spec.
	 */
	long size() {
		return this.locals.size() + this.refusals.size();
	}

	@Override
	public String toString() {
		return "leased " + this.central;
	}

	private CompletionStage<Grant> spend(List<Counter> counters, Permits permits, Duration timeout, long now) {
		long cost = permits.most();
		@Nullable Payment[] payments = null;
		List<Counter> rest = null;
		boolean strict = true;
		for (int i = 0; i < counters.size(); i++) {
			Counter counter = counters.get(i);
			LeasedSpec leased = isLeased(counter, cost) ? this.locals.get(counter, now) : null;
			Payment payment = (leased != null) ? leased.spend(cost, now) : null;
			strict &= leased == null;
			if (leased != null && payment != null) {
				payments = (payments != null) ? payments : new Payment[counters.size()];
				payments[i] = payment;
				this.calls.fetchIfWanted(leased, timeout, now);
			}
			else {
				rest = (rest != null) ? rest : new ArrayList<>(counters.size());
				rest.add(counter);
			}
		}
		if (strict) {
			return this.calls.ask(counters, permits, timeout, now);
		}
		@Nullable Payment[] paid = (payments != null) ? payments : new Payment[counters.size()];
		if (rest == null) {
			return CompletableFuture
				.completedFuture(new Grant(permits, cost, Payment.readings(counters, paid), Decision.Source.LEASE));
		}
		return new PartlyPaid(this.locals, this.calls, this.nanos, counters, paid, rest, permits, timeout, now).ask();
	}

	/**
	 * Strict counters are only watched, so that operators see them. A cost that never
	 * fits says nothing about what callers will spend.
	 */
	private boolean isLeased(Counter counter, long cost) {
		Enforcement enforcement = counter.spec().enforcement();
		return (enforcement == Enforcement.LEASED || this.hot.test(counter) && enforcement == Enforcement.ADAPTIVE)
				&& cost <= counter.spec().largestCost();
	}

}
