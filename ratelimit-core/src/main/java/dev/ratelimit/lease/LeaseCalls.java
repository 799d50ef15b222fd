package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
import dev.ratelimit.counter.Timer;

/**
 * Calls Redis for requests, for leases, and for both at once, and remembers the answers.
 */
final class LeaseCalls {

	/**
	 * With more, requests call for themselves, and the guard refuses some. A full load of
	 * 1,000,000 a second has 20,000 waiting, with a deadline of 20 ms.
	 */
	private static final int MOST_WAITING = 50_000;

	/** In deadlines: a node may be slower for leases than for checks, but not dead. */
	private static final int MOST_PATIENCE = 10;

	private final Counters central;

	private final LocalCounters locals;

	private final DeniedCache denied;

	private final IntSupplier instances;

	private final LeaseListener listener;

	private final LongSupplier nanos;

	private final Timer timer;

	/** The time that a lease lasts, after which another one may be fetched. */
	private final Duration refresh;

	/** Requests that wait for calls of others. */
	private final AtomicInteger waiting = new AtomicInteger();

	LeaseCalls(Counters central, LocalCounters locals, DeniedCache denied, Duration refresh, IntSupplier instances,
			LeaseListener listener, LongSupplier nanos, Timer timer) {
		this.central = central;
		this.locals = locals;
		this.denied = denied;
		this.instances = instances;
		this.listener = listener;
		this.nanos = nanos;
		this.timer = timer;
		this.refresh = refresh;
	}

	void ask(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout, long sent,
			Consumer<Grant> answer) {
		this.central.acquire(counters, permits, attempt, timeout, (grant) -> learn(grant, counters, sent, answer));
	}

	private void learn(Grant grant, List<Counter> counters, long sent, Consumer<Grant> answer) {
		try {
			learn(grant, counters.size() > 1, sent);
			// Late answers too: without one, no lease would ever be fetched.
			grant.whenLate((late) -> learn(late, sent));
		}
		finally {
			answer.accept(grant);
		}
	}

	/**
	 * Takes permits for a request for which others wait.
	 * @param timeout how long this request waits
	 */
	void ask(List<Counter> counters, Gate.Pass pass, Permits permits, Duration timeout, long sent,
			Consumer<Grant> answer) {
		call(counters, pass, permits, timeout, (grant) -> learn(grant, counters.size() > 1, sent), answer);
	}

	/**
	 * Takes permits for a request, and in the same call a lease if it is time for one.
	 * The request comes first: the lease gets what is left.
	 */
	void askAlong(LeasedSpec leased, Gate.Pass pass, Permits permits, Duration timeout, long sent,
			Consumer<Grant> answer) {
		List<Counter> counters = List.of(leased.counter());
		long cost = permits.most();
		long size = leased.wants(sent) ? leased.local().fetchAlong(leased, cost, this.instances.getAsInt(), sent) : 0;
		if (size == 0) {
			ask(counters, pass, permits, timeout, sent, answer);
			return;
		}
		pass.fetches();
		call(counters, pass, new Permits(1, cost, cost + size), timeout, (grant) -> {
			learn(grant, false, sent);
			received(leased, grant, cost, size, sent);
		}, (grant) -> answer.accept(ofRequest(grant, permits)));
	}

	/**
	 * Fetches a lease if it is time for one. It has the deadline of a check although no
	 * request waits for it: otherwise a lease could close the breaker of a node that is
	 * too slow for checks. After that it goes on, see {@link Gate}.
	 */
	void fetchIfWanted(LeasedSpec leased, Duration timeout, long now) {
		long size = leased.wants(now) ? leased.local().fetch(leased, this.instances.getAsInt(), now) : 0;
		if (size == 0) {
			return;
		}
		Gate.Pass pass = leased.gate().begin(patience(timeout));
		pass.fetches();
		try {
			call(List.of(leased.counter()), pass, Permits.between(1, size), timeout,
					(grant) -> received(leased, grant, 0, size, now), (grant) -> {
					});
		}
		catch (Throwable ex) {
			Resumption.resume(end(pass));
			throw ex;
		}
	}

	/**
	 * For how long a call is worth having if requests have this deadline: until the next
	 * lease would be fetched.
	 */
	Duration patience(Duration timeout) {
		Duration most = timeout.multipliedBy(MOST_PATIENCE);
		Duration patience = (this.refresh.compareTo(most) < 0) ? this.refresh : most;
		return (patience.compareTo(timeout) < 0) ? timeout : patience;
	}

	/**
	 * Makes a call for which requests wait. They are resumed when it has ended, which may
	 * be long after its own request has its answer.
	 * @param learn takes over what the node says, in time or late
	 * @param answer gets the grant in time
	 */
	private void call(List<Counter> counters, Gate.Pass pass, Permits permits, Duration timeout, Consumer<Grant> learn,
			Consumer<Grant> answer) {
		this.central.refill(counters, permits, timeout, pass, (grant) -> {
			try {
				learn.accept(grant);
			}
			finally {
				// The call ends before its answer is handed over: that may ask for
				// permits again.
				List<PartlyPaid> resumed = goesOn(grant, pass, pass.patience().minus(timeout), learn) ? List.of()
						: end(pass);
				try {
					answer.accept(grant);
				}
				finally {
					Resumption.resume(resumed);
				}
			}
		});
	}

	/**
	 * Whether a call without an answer goes on. It then ends with the late answer, or
	 * when its patience is over.
	 */
	private boolean goesOn(Grant grant, Gate.Pass pass, Duration left, Consumer<Grant> learn) {
		List<CompletableFuture<Void>> late = new ArrayList<>(0);
		for (Grant.Gap gap : grant.gaps()) {
			CompletionStage<Grant> answer = gap.late();
			if (answer != null) {
				late.add(answer.thenAccept(learn).toCompletableFuture());
			}
		}
		if (late.isEmpty() || left.isZero()) {
			return false;
		}
		pass.late(grant.gaps().get(0).cause());
		CompletableFuture.allOf(late.toArray(CompletableFuture<?>[]::new))
			.whenComplete((done, failure) -> Resumption.resume(end(pass)));
		this.timer.after(left, () -> Resumption.resume(end(pass)));
		return true;
	}

	/**
	 * Asks whether a request waits for calls of others. It is then resumed.
	 * @param rest leased counters that it has no permits of
	 * @param waited whether it has waited before: then it only waits for leases
	 */
	boolean await(PartlyPaid request, List<LeasedSpec> rest, boolean waited) {
		if (this.waiting.incrementAndGet() <= MOST_WAITING) {
			for (LeasedSpec leased : rest) {
				Gate gate = leased.gate();
				if (waited ? gate.awaitLease(request) : gate.await(request)) {
					arm(gate, request.deadline());
					return true;
				}
			}
		}
		this.waiting.decrementAndGet();
		return false;
	}

	private void arm(Gate gate, long deadline) {
		if (gate.arm(deadline)) {
			this.timer.after(Duration.ofNanos(Math.max(0, deadline - now())), () -> expire(gate));
		}
	}

	/** Lets requests go on whose time is over. */
	private void expire(Gate gate) {
		List<PartlyPaid> expired = gate.expire(now());
		this.waiting.addAndGet(-expired.size());
		gate.earliest().ifPresent((deadline) -> arm(gate, deadline));
		Resumption.resume(expired);
	}

	/**
	 * A call has ended.
	 * @return the requests that waited for it, to be {@linkplain Resumption resumed}
	 */
	List<PartlyPaid> end(Gate.Pass pass) {
		List<PartlyPaid> resumed = pass.end();
		this.waiting.addAndGet(-resumed.size());
		return resumed;
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
	 * The grant of a request that a counter refuses by the last answer of Redis.
	 */
	Grant refused(Permits permits, Reading refusal) {
		return new Grant(permits, 0, List.of(refusal), this.central.source());
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
	 * Takes over a lease, also one that comes late. While it can still come, no other one
	 * is fetched.
	 * @param grant permits of the request and of the lease
	 * @param cost permits of the request
	 * @param wanted permits of the lease
	 */
	private void received(LeasedSpec leased, Grant grant, long cost, long wanted, long sent) {
		if (!grant.complete()) {
			if (grant.gaps().get(0).late() == null) {
				leased.end(sent);
			}
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
