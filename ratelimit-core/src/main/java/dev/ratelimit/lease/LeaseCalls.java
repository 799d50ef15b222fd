package dev.ratelimit.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * The calls to Redis: for requests, for leases, and for both at once. What the answers
 * say of counters is remembered.
 */
final class LeaseCalls {

	private final Counters central;

	private final LocalCounters locals;

	private final Refusals refusals;

	private final IntSupplier instances;

	private final LeaseListener listener;

	private final LongSupplier nanos;

	LeaseCalls(Counters central, LocalCounters locals, Refusals refusals, IntSupplier instances, LeaseListener listener,
			LongSupplier nanos) {
		this.central = central;
		this.locals = locals;
		this.refusals = refusals;
		this.instances = instances;
		this.listener = listener;
		this.nanos = nanos;
	}

	/**
	 * Takes permits for a request.
	 */
	CompletionStage<Grant> ask(List<Counter> counters, Permits permits, Duration timeout, long sent) {
		return this.central.acquire(counters, permits, timeout).whenComplete((grant, failure) -> {
			if (grant != null) {
				learn(grant, counters.size() > 1, sent);
			}
		});
	}

	/**
	 * Takes permits for a request, and a lease along with them if it is time for one. The
	 * request comes first: the lease is of what is left then.
	 */
	CompletionStage<Grant> askAlong(LeasedSpec leased, Permits permits, Duration timeout, long sent) {
		long cost = permits.most();
		long size = leased.wants(sent) ? leased.local().fetchAlong(leased, cost, this.instances.getAsInt(), sent) : 0;
		if (size == 0) {
			return ask(List.of(leased.counter()), permits, timeout, sent);
		}
		return ask(List.of(leased.counter()), new Permits(1, cost, cost + size), timeout, sent)
			.handle((grant, failure) -> {
				if (grant != null) {
					fetched(leased, ofLease(grant, cost), size, sent);
					return ofRequest(grant, permits);
				}
				UnansweredException unanswered = UnansweredException.of(failure);
				await(leased, unanswered.late().thenApply((late) -> ofLease(late, cost)), size, sent);
				throw unanswered.withLate(unanswered.late().thenApply((late) -> ofRequest(late, permits)));
			});
	}

	/**
	 * Fetches a lease if it is time for one. Within the deadline of a check, although
	 * nobody waits: else a lease could close the breaker of a node that is too slow for
	 * checks.
	 */
	void fetchIfWanted(LeasedSpec leased, Duration timeout, long now) {
		long size = leased.wants(now) ? leased.local().fetch(leased, this.instances.getAsInt(), now) : 0;
		if (size == 0) {
			return;
		}
		this.central.acquire(List.of(leased.counter()), Permits.between(1, size), timeout)
			.whenComplete((grant, failure) -> {
				if (grant != null) {
					fetched(leased, grant, size, now);
				}
				else {
					await(leased, UnansweredException.of(failure).late(), size, now);
				}
			});
	}

	/**
	 * Gives back permits that came too late for their request.
	 */
	void giveBack(Grant late) {
		this.central.giveBack(late, late.permits());
	}

	/**
	 * Forgets that Redis refused counters which were paid for after all.
	 */
	void forgetRefusals(List<Counter> counters) {
		counters.forEach((counter) -> this.refusals.forget(counter, counter.spec()));
	}

	private void learn(Grant grant, boolean provisional, long sent) {
		if (grant.refused() && grant.complete()) {
			this.refusals.remember(grant, sent, provisional);
		}
		for (Reading reading : grant.readings()) {
			LeasedSpec leased = this.locals.find(reading.counter());
			if (leased != null) {
				leased.told(reading, sent, this.nanos.getAsLong());
			}
		}
	}

	private void fetched(LeasedSpec leased, Grant grant, long wanted, long sent) {
		leased.fetched(grant, wanted, sent, this.nanos.getAsLong());
		this.listener.fetched(grant.permits());
		if (grant.permits() > 0) {
			// Whoever was refused in the meantime can be admitted now.
			this.refusals.forget(leased.counter(), leased.spec());
		}
	}

	/** A lease that comes late is spent. */
	private void await(LeasedSpec leased, CompletionStage<Grant> late, long wanted, long sent) {
		late.whenComplete((grant, failure) -> {
			if (grant != null) {
				fetched(leased, grant, wanted, sent);
			}
			else {
				leased.end(sent);
			}
		});
	}

	private static Grant ofRequest(Grant grant, Permits permits) {
		long ofLease = Math.max(0, grant.permits() - permits.most());
		return new Grant(permits, grant.permits() - ofLease,
				grant.readings().stream().map((reading) -> reading.without(ofLease)).toList(), grant.gaps(),
				grant.source(), grant.node());
	}

	private static Grant ofLease(Grant grant, long cost) {
		return new Grant(grant.wanted(), Math.max(0, grant.permits() - cost), grant.readings(), grant.source());
	}

}
