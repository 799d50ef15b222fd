package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Demand;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Timer;

/**
 * Answers in-process where possible: by a refusal that still holds, or from permits that
 * were taken ahead. It wraps the guard, so that leased permits are still spent while a
 * breaker is open.
 *
 * <p>
 * A request first spends permits of all its leases; Redis is asked for the counters that
 * have none, see {@link PartlyPaid}. Callers of different specs may share a counter:
 * leases and refusals under one spec say nothing about the others, and a reset of the
 * counter drops all of them.
 */
public final class LeasedCounters implements Counters, AutoCloseable {

	private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(500);

	private final Counters central;

	private final Demand demand;

	private final LongSupplier nanos;

	private final DeniedCache denied;

	private final LocalCounters locals;

	private final LeaseCalls calls;

	private final Refunds refunds;

	/**
	 * @param central where permits come from
	 * @param options how they are taken ahead
	 * @param instances number of instances that share them
	 * @param demand counts requests for counters that are not leased anyway, and says
	 * whether an adaptive one is leased now
	 * @param listener sees each lease
	 * @param nanos a monotonic clock
	 * @param timer ends the waiting of requests at their deadlines
	 */
	public LeasedCounters(Counters central, LeaseOptions options, IntSupplier instances, Demand demand,
			LeaseListener listener, LongSupplier nanos, Timer timer) {
		this.central = central;
		this.demand = demand;
		this.nanos = nanos;
		this.denied = new DeniedCache(options.maxCounters(), nanos.getAsLong());
		this.locals = new LocalCounters(options);
		this.refunds = new Refunds(central, nanos);
		this.calls = new LeaseCalls(central, this.locals, this.denied, options.refresh(), instances, listener, nanos,
				timer);
	}

	@Override
	public Decision.Source source() {
		return this.central.source();
	}

	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		long now = this.nanos.getAsLong();
		if (attempt != null) {
			ask(counters, permits, attempt, timeout, now, answer);
			return;
		}
		Grant refused = this.denied.find(counters, permits, now);
		if (refused != null) {
			answer.accept(refused);
		}
		else if (permits.most() == 0 || permits.unit() != permits.most()) {
			this.calls.ask(counters, permits, null, timeout, now, answer);
		}
		else {
			spend(counters, permits, timeout, now, answer);
		}
	}

	/**
	 * A request that may be sent again is decided by Redis, which has its record: neither
	 * a remembered refusal nor a lease answers it.
	 */
	private void ask(List<Counter> counters, Permits permits, Attempt attempt, Duration timeout, long now,
			Consumer<Grant> answer) {
		for (Counter counter : counters) {
			if (counter.spec().enforcement() != Enforcement.LEASED) {
				this.demand.count(counter);
			}
		}
		this.calls.ask(counters, permits, attempt, timeout, now, answer);
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		grant.readings().forEach((reading) -> this.denied.forget(reading.counter()));
		return this.central.giveBack(grant, permits);
	}

	@Override
	public CompletionStage<Settlement> settle(Correction correction) {
		return this.refunds.settle(correction);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		forget(counters::contains);
		return this.central.reset(counters).thenRun(() -> forget(counters::contains));
	}

	@Override
	public long held(Counter counter) {
		return this.locals.held(counter, this.nanos.getAsLong());
	}

	/**
	 * Drops the leases and refusals of counters that another instance has reset.
	 */
	public void forget(Set<String> keys) {
		forget((counter) -> keys.contains(counter.key()));
	}

	/** Walks through all counters, so it is too slow for the path of a check. */
	private void forget(Predicate<Counter> which) {
		this.denied.forget(which, this.nanos.getAsLong());
		this.locals.forget(which);
	}

	/**
	 * Drops all refusals: this instance may have missed a reset.
	 */
	public void forgetRefusals() {
		this.denied.forget((counter) -> true, this.nanos.getAsLong());
	}

	/**
	 * Gives unspent permits back, and waits up to half a second for that.
	 */
	@Override
	public void close() {
		List<CompletableFuture<?>> givenBack = new ArrayList<>();
		for (Lease lease : this.locals.removeAll()) {
			long left = lease.getAndSet(0);
			if (left > 0 && !lease.isOver(this.nanos.getAsLong())) {
				givenBack.add(this.central.giveBack(lease.grant(), left).toCompletableFuture());
			}
		}
		CompletableFuture.allOf(givenBack.toArray(CompletableFuture<?>[]::new))
			.exceptionally((failure) -> null)
			.completeOnTimeout(null, CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
			.join();
	}

	/**
	 * The number of leased counters and refusals, each spec counted by itself.
	 */
	public long size() {
		return this.locals.size() + this.denied.size();
	}

	@Override
	public String toString() {
		return "leased " + this.central;
	}

	private void spend(List<Counter> counters, Permits permits, Duration timeout, long now, Consumer<Grant> answer) {
		long cost = permits.most();
		@Nullable Payment[] payments = null;
		List<Counter> rest = null;
		boolean strict = true;
		for (int i = 0; i < counters.size(); i++) {
			Counter counter = counters.get(i);
			if (counter.spec().enforcement() != Enforcement.LEASED) {
				// Strict counters too, so that operators see them.
				this.demand.count(counter);
			}
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
			this.calls.ask(counters, permits, null, timeout, now, answer);
			return;
		}
		@Nullable Payment[] paid = (payments != null) ? payments : new Payment[counters.size()];
		if (rest == null) {
			answer.accept(new Grant(permits, cost, new LeasedReadings(counters, paid), Decision.Source.LEASE));
		}
		else {
			new PartlyPaid(this.calls, counters, paid, rest, permits, timeout, now, answer).ask();
		}
	}

	/** A cost that never fits says nothing about the costs of other requests. */
	private boolean isLeased(Counter counter, long cost) {
		boolean leased = switch (counter.spec().enforcement()) {
			case STRICT -> false;
			case LEASED -> true;
			case ADAPTIVE -> this.demand.isHot(counter);
		};
		return leased && cost <= counter.spec().largestCost();
	}

}
