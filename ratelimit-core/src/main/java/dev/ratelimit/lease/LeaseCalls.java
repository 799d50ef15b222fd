package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Enforcement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Calls Redis for requests, for leases, and for both at once, and remembers the answers.
 */
final class LeaseCalls {

	/** With more, requests call for themselves, and the guard refuses some. */
	private static final int MOST_WAITING = 10_000;

	private static final ThreadLocal<@Nullable Deque<PartlyPaid>> RESUMING = new ThreadLocal<>();

	private final Counters central;

	private final LocalCounters locals;

	private final DeniedCache denied;

	private final IntSupplier instances;

	private final LeaseListener listener;

	private final LongSupplier nanos;

	/** Requests that wait for calls of others. */
	private final AtomicInteger waiting = new AtomicInteger();

	LeaseCalls(Counters central, LocalCounters locals, DeniedCache denied, IntSupplier instances,
			LeaseListener listener, LongSupplier nanos) {
		this.central = central;
		this.locals = locals;
		this.denied = denied;
		this.instances = instances;
		this.listener = listener;
		this.nanos = nanos;
	}

	void ask(List<Counter> counters, Permits permits, Duration timeout, long sent, Consumer<Grant> answer) {
		this.central.acquire(counters, permits, timeout, (grant) -> learn(grant, counters, sent, answer));
	}

	void ask(List<Counter> counters, Permits permits, Attempt attempt, Duration timeout, long sent,
			Consumer<Grant> answer) {
		this.central.acquire(counters, permits, attempt, timeout, (grant) -> learn(grant, counters, sent, answer));
	}

	private void learn(Grant grant, List<Counter> counters, long sent, Consumer<Grant> answer) {
		try {
			learn(grant, counters.size() > 1, sent);
		}
		finally {
			answer.accept(grant);
		}
	}

	/**
	 * Takes permits for a request, and in the same call a lease if it is time for one.
	 * The request comes first: the lease gets what is left.
	 */
	void askAlong(LeasedSpec leased, Gate.Pass pass, Permits permits, Duration timeout, long sent,
			Consumer<Grant> answer) {
		long cost = permits.most();
		long size = leased.wants(sent) ? leased.local().fetchAlong(leased, cost, this.instances.getAsInt(), sent) : 0;
		if (size == 0) {
			ask(List.of(leased.counter()), permits, timeout, sent, answer);
			return;
		}
		pass.fetches();
		ask(List.of(leased.counter()), new Permits(1, cost, cost + size), timeout, sent, (grant) -> {
			try {
				received(leased, grant, cost, size, sent);
			}
			finally {
				answer.accept(ofRequest(grant, permits));
			}
		});
	}

	/**
	 * Fetches a lease if it is time for one. It has the deadline of a check although no
	 * request waits for it: otherwise a lease could close the breaker of a node that is
	 * too slow for checks.
	 */
	void fetchIfWanted(LeasedSpec leased, Duration timeout, long now) {
		long size = leased.wants(now) ? leased.local().fetch(leased, this.instances.getAsInt(), now) : 0;
		if (size == 0) {
			return;
		}
		Gate.Pass pass = leased.gate().begin(now + timeout.toNanos());
		pass.fetches();
		try {
			this.central.acquire(List.of(leased.counter()), Permits.between(1, size), timeout, (grant) -> {
				try {
					received(leased, grant, 0, size, now);
				}
				finally {
					resume(end(pass));
				}
			});
		}
		catch (Throwable ex) {
			resume(end(pass));
			throw ex;
		}
	}

	/**
	 * Asks whether a request waits for calls of others. It is then resumed.
	 * @param rest leased counters that it has no permits of
	 * @param waited whether it has waited before: then it only waits for leases
	 */
	boolean await(PartlyPaid request, List<LeasedSpec> rest, long deadline, boolean waited) {
		if (this.waiting.incrementAndGet() <= MOST_WAITING) {
			for (LeasedSpec leased : rest) {
				Gate gate = leased.gate();
				if (waited ? gate.awaitLease(request, deadline) : gate.await(request, deadline)) {
					return true;
				}
			}
		}
		this.waiting.decrementAndGet();
		return false;
	}

	/**
	 * A call has ended.
	 * @return the requests that waited for it, to be {@linkplain #resume resumed}
	 */
	List<PartlyPaid> end(Gate.Pass pass) {
		List<PartlyPaid> resumed = pass.end();
		this.waiting.addAndGet(-resumed.size());
		return resumed;
	}

	/**
	 * Lets requests go on that have waited. A request may end a call at once, as with an
	 * open breaker, and resume others: these follow in the same loop, or the stack would
	 * grow with each of them.
	 */
	static void resume(List<PartlyPaid> requests) {
		if (requests.isEmpty()) {
			return;
		}
		Deque<PartlyPaid> running = RESUMING.get();
		if (running != null) {
			running.addAll(requests);
			return;
		}
		Deque<PartlyPaid> queue = new ArrayDeque<>(requests);
		RESUMING.set(queue);
		try {
			resumeAll(queue);
		}
		finally {
			RESUMING.remove();
		}
	}

	/** One that fails does not hold up the others. */
	private static void resumeAll(Deque<PartlyPaid> queue) {
		Throwable failure = null;
		for (PartlyPaid next = queue.poll(); next != null; next = queue.poll()) {
			try {
				next.resume();
			}
			catch (Throwable ex) {
				failure = ex;
			}
		}
		if (failure != null) {
			throw new IllegalStateException("A request that had waited could not go on", failure);
		}
	}

	/**
	 * The leases under the spec of a counter, {@code null} if there are none.
	 */
	@Nullable LeasedSpec find(Counter counter) {
		return (counter.spec().enforcement() != Enforcement.STRICT) ? this.locals.find(counter) : null;
	}

	long now() {
		return this.nanos.getAsLong();
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
		counters.forEach((counter) -> this.denied.forget(counter, counter.spec()));
	}

	private void learn(Grant grant, boolean provisional, long sent) {
		if (grant.refused() && grant.complete()) {
			this.denied.remember(grant, sent, provisional);
		}
		learn(grant, sent);
		if (!grant.complete()) {
			// Late answers too: without one, no lease would ever be fetched.
			grant.whenLate((late) -> learn(late, sent));
		}
	}

	private void learn(Grant grant, long sent) {
		for (Reading reading : grant.readings()) {
			LeasedSpec leased = find(reading.counter());
			if (leased != null) {
				leased.learn(reading, sent, now());
			}
		}
	}

	/**
	 * Takes over a lease, also one that comes late.
	 * @param grant permits of the request and of the lease
	 * @param cost permits of the request
	 * @param wanted permits of the lease
	 */
	private void received(LeasedSpec leased, Grant grant, long cost, long wanted, long sent) {
		CompletionStage<Grant> late = grant.complete() ? null : grant.gaps().get(0).late();
		if (late != null) {
			late.thenAccept((answer) -> received(leased, answer, cost, wanted, sent));
		}
		else if (!grant.complete()) {
			leased.end(sent);
		}
		else {
			long permits = Math.max(0, grant.permits() - cost);
			leased.fetched(new Grant(grant.wanted(), permits, grant.readings(), grant.source()), wanted, sent, now());
			this.listener.fetched(permits);
			if (permits > 0) {
				// Callers that were refused in the meantime can be admitted now.
				this.denied.forget(leased.counter(), leased.spec());
			}
		}
	}

	/** The part of a request in a grant that may also hold its lease. */
	private static Grant ofRequest(Grant grant, Permits permits) {
		long ofLease = Math.max(0, grant.permits() - permits.most());
		return new Grant(permits, grant.permits() - ofLease,
				grant.readings().stream().map((reading) -> reading.without(ofLease)).toList(),
				grant.gaps().stream().map((gap) -> gap.mapLate((late) -> ofRequest(late, permits))).toList(),
				grant.source(), grant.node());
	}

}
