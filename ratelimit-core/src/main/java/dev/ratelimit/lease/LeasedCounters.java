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

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Enforcement;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * Counters that answer in-process what they can: by a refusal that still holds, or from
 * permits that were taken ahead. It stands outside the guard, so that what is paid for is
 * still spent while a breaker is open.
 *
 * <p>
 * A request spends of all its leases first. The counters that have none are asked as
 * ever, and if one of them refuses, the leases get back what was spent; so a request is
 * all or nothing, whichever way its limits are enforced. Fetching a lease is a call of
 * its own and nobody waits for it.
 */
public final class LeasedCounters implements Counters, AutoCloseable {

	private static final Duration GOODBYE = Duration.ofMillis(500);

	private final Counters central;

	private final LeaseOptions options;

	private final IntSupplier instances;

	private final Predicate<Counter> hot;

	private final LeaseListener listener;

	private final LongSupplier nanos;

	private final Refusals refusals;

	private final Cache<Counter, LocalCounter> locals;

	/** What was asked before this may have been answered before a reset. */
	private volatile long forgottenAt;

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
		this.options = options;
		this.instances = instances;
		this.hot = hot;
		this.listener = listener;
		this.nanos = nanos;
		this.forgottenAt = nanos.getAsLong();
		this.refusals = new Refusals(options.maxCounters());
		this.locals = Caffeine.newBuilder()
			.maximumSize(options.maxCounters())
			.executor(Runnable::run)
			.<Counter, LocalCounter>build();
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
			return ask(counters, permits, timeout, now);
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
		LocalCounter local = this.locals.getIfPresent(counter);
		return (local != null) ? local.held(this.nanos.getAsLong()) : 0;
	}

	/**
	 * Drops what is known here of counters: their permits may be gone or be more.
	 */
	public void forget(List<Counter> counters) {
		this.forgottenAt = this.nanos.getAsLong();
		for (Counter counter : counters) {
			this.refusals.forget(counter);
			this.locals.invalidate(counter);
		}
	}

	/**
	 * Drops what is known here of counters that somebody else has reset. Looks at all
	 * there are, so it is not for a thread that is in a hurry.
	 */
	public void forget(Set<String> keys) {
		this.forgottenAt = this.nanos.getAsLong();
		this.refusals.forget((counter) -> keys.contains(counter.key()));
		this.locals.asMap().keySet().removeIf((counter) -> keys.contains(counter.key()));
	}

	/**
	 * Drops all refusals: counters may have been reset without this instance hearing it.
	 */
	public void forgetRefusals() {
		this.forgottenAt = this.nanos.getAsLong();
		this.refusals.forgetAll();
	}

	/**
	 * Drops everything that is known here.
	 */
	public void forgetAll() {
		forgetRefusals();
		this.locals.invalidateAll();
	}

	/**
	 * Gives back what was not spent, and waits a moment for that to arrive.
	 */
	@Override
	public void close() {
		List<CompletableFuture<?>> givenBack = new ArrayList<>();
		this.locals.asMap().values().forEach((local) -> {
			giveBack(local.takeCurrent(), givenBack);
			giveBack(local.takeNext(), givenBack);
		});
		this.locals.invalidateAll();
		CompletableFuture.allOf(givenBack.toArray(CompletableFuture<?>[]::new))
			.exceptionally((failure) -> null)
			.completeOnTimeout(null, GOODBYE.toMillis(), TimeUnit.MILLISECONDS)
			.join();
	}

	@Override
	public String toString() {
		return "leased " + this.central;
	}

	private CompletionStage<Grant> spend(List<Counter> counters, Permits permits, Duration timeout, long now) {
		long cost = permits.most();
		@Nullable Lease[] leases = null;
		List<Counter> rest = null;
		for (int i = 0; i < counters.size(); i++) {
			Counter counter = counters.get(i);
			LocalCounter local = local(counter);
			Lease lease = (local != null) ? local.spend(cost, now) : null;
			if (lease != null) {
				leases = (leases != null) ? leases : new Lease[counters.size()];
				leases[i] = lease;
			}
			else {
				rest = (rest != null) ? rest : new ArrayList<>(counters.size());
				rest.add(counter);
			}
			if (local != null && local.wants(now)) {
				fetch(counter, local, timeout, now);
			}
		}
		if (leases == null) {
			return ask(counters, permits, timeout, now)
				.thenApply((grant) -> grant.refused() ? spendWhatHasCome(counters, grant) : grant);
		}
		if (rest == null) {
			return CompletableFuture
				.completedFuture(new Grant(permits, cost, readings(counters, leases), Decision.Source.LEASE));
		}
		@Nullable Lease[] spent = leases;
		return ask(rest, permits, timeout, now).whenComplete((grant, failure) -> {
			if (failure != null || grant.refused()) {
				putBack(spent, cost);
			}
		}).thenApply((grant) -> grant.refused() ? grant : merged(counters, spent, grant));
	}

	/**
	 * A lease that was being fetched may have taken the very permits for which Redis
	 * refuses a request beside it.
	 */
	private Grant spendWhatHasCome(List<Counter> counters, Grant refused) {
		long cost = refused.wanted().most();
		long now = this.nanos.getAsLong();
		@Nullable Lease[] leases = new Lease[counters.size()];
		for (int i = 0; i < leases.length; i++) {
			LocalCounter local = this.locals.getIfPresent(counters.get(i));
			leases[i] = (local != null && local.isOf(counters.get(i))) ? local.take(cost, now) : null;
			if (leases[i] == null) {
				putBack(leases, cost);
				return refused;
			}
		}
		counters.forEach(this.refusals::forget);
		return new Grant(refused.wanted(), cost, readings(counters, leases), Decision.Source.LEASE);
	}

	/** Asks Redis, and remembers what it said. */
	private CompletionStage<Grant> ask(List<Counter> counters, Permits permits, Duration timeout, long now) {
		return this.central.acquire(counters, permits, timeout).whenComplete((grant, failure) -> {
			if (grant != null) {
				if (grant.refused() && grant.complete() && now - this.forgottenAt >= 0) {
					this.refusals.remember(grant, now, counters.size() > 1);
				}
				for (Reading reading : grant.readings()) {
					tell(reading, now);
				}
			}
		});
	}

	private void tell(Reading reading, long now) {
		if (reading.counter().spec().enforcement() != Enforcement.STRICT) {
			LocalCounter local = this.locals.getIfPresent(reading.counter());
			if (local != null) {
				local.told(reading, now);
			}
		}
	}

	private @Nullable LocalCounter local(Counter counter) {
		if (!isLeased(counter)) {
			return null;
		}
		LocalCounter local = this.locals.get(counter, (key) -> new LocalCounter(counter, this.options));
		if (!local.isOf(counter)) {
			// Another limit holds now: what was leased under the old one is not spent.
			this.locals.invalidate(counter);
			return this.locals.get(counter, (key) -> new LocalCounter(counter, this.options));
		}
		return local;
	}

	/** Strict counters are only watched, so that operators see them. */
	private boolean isLeased(Counter counter) {
		Enforcement enforcement = counter.spec().enforcement();
		return enforcement == Enforcement.LEASED || this.hot.test(counter) && enforcement == Enforcement.ADAPTIVE;
	}

	/**
	 * Within the deadline of a check, although nobody waits: else a lease could close the
	 * breaker of a node that is too slow for checks. A lease that comes late is spent.
	 */
	private void fetch(Counter counter, LocalCounter local, Duration timeout, long now) {
		long size = local.size(this.instances.getAsInt(), now);
		if (size == 0) {
			return;
		}
		this.central.acquire(List.of(counter), Permits.between(1, size), timeout).whenComplete((grant, failure) -> {
			if (grant != null) {
				local.fetched(grant, size, now);
				came(counter, grant);
			}
			else {
				local.notFetched();
				UnansweredException.of(failure).late().thenAccept((late) -> {
					local.granted(late, size, now);
					came(counter, late);
				});
			}
		});
	}

	/** Whoever was refused in the meantime can be admitted now. */
	private void came(Counter counter, Grant lease) {
		this.listener.fetched(lease.permits());
		if (lease.permits() > 0) {
			this.refusals.forget(counter);
		}
	}

	private static List<Reading> readings(List<Counter> counters, @Nullable Lease[] leases) {
		List<Reading> readings = new ArrayList<>(counters.size());
		for (int i = 0; i < counters.size(); i++) {
			Lease lease = leases[i];
			if (lease != null) {
				readings.add(lease.reading(counters.get(i)));
			}
		}
		return readings;
	}

	private static Grant merged(List<Counter> counters, @Nullable Lease[] leases, Grant asked) {
		List<Reading> readings = readings(counters, leases);
		readings.addAll(asked.readings());
		return new Grant(asked.wanted(), asked.permits(), readings, asked.gaps(), asked.source());
	}

	private static void putBack(@Nullable Lease[] leases, long permits) {
		for (Lease lease : leases) {
			if (lease != null) {
				lease.putBack(permits);
			}
		}
	}

	private void giveBack(@Nullable Lease lease, List<CompletableFuture<?>> givenBack) {
		if (lease != null) {
			long left = lease.end();
			if (left > 0 && !lease.isOver(this.nanos.getAsLong())) {
				givenBack.add(this.central.giveBack(lease.grant(), left).toCompletableFuture());
			}
		}
	}

}
