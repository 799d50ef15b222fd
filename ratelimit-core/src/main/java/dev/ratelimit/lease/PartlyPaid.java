package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * A request that leases cannot pay for alone. Redis is asked for the other counters; if
 * they refuse, the permits return to the leases. So a request gets all or nothing,
 * however its limits are enforced.
 */
final class PartlyPaid {

	private static final UnansweredException WAITED_TOO_LONG = new UnansweredException(Decision.Reason.SATURATED,
			"the deadline passed while the check waited for a lease");

	private final LeaseCalls calls;

	private final List<Counter> counters;

	/** By counter, {@code null} where Redis is asked. */
	private final @Nullable Payment[] payments;

	private final List<Counter> rest;

	private final Permits permits;

	private final Duration timeout;

	private final long sent;

	private final Consumer<Grant> answer;

	/** Whether the caller was given its answer. */
	private boolean ended;

	PartlyPaid(LeaseCalls calls, List<Counter> counters, @Nullable Payment[] payments, List<Counter> rest,
			Permits permits, Duration timeout, long sent, Consumer<Grant> answer) {
		this.calls = calls;
		this.counters = counters;
		this.payments = payments;
		this.rest = rest;
		this.permits = permits;
		this.timeout = timeout;
		this.sent = sent;
		this.answer = answer;
	}

	/**
	 * Asks Redis, or waits for calls that bring permits of the same counters. A request
	 * that Redis must decide anyway, because of a strict counter, waits for nobody.
	 */
	void ask() {
		List<LeasedSpec> leased = leased();
		if (leased.isEmpty() || !this.calls.await(this, leased, false)) {
			call(leased, this.sent);
		}
	}

	/**
	 * A call that this request has waited for has ended.
	 */
	void resume() {
		try {
			goOn();
		}
		catch (Throwable ex) {
			answered(Grant.unanswered(this.permits, this.rest, UnansweredException.of(ex)));
		}
	}

	private void goOn() {
		long cost = this.permits.most();
		@Nullable Payment[] late = payRest(cost);
		long now = this.calls.now();
		if (late != null) {
			paidAfterAll(new Grant(this.permits, cost, readings(this.counters, late), Decision.Source.LEASE));
			return;
		}
		List<LeasedSpec> leased = leased();
		Reading refusal = refusal(leased, now);
		if (refusal != null) {
			putBack(this.payments, cost);
			end(this.calls.refused(this.permits, refusal));
		}
		else if (now - deadline() >= 0) {
			answered(Grant.unanswered(this.permits, this.rest, notPaid()));
		}
		else if (!this.calls.await(this, leased, true)) {
			call(leased, now);
		}
	}

	private @Nullable Reading refusal(List<LeasedSpec> leased, long now) {
		for (LeasedSpec each : leased) {
			Reading refusal = each.refusal(this.permits.most(), this.sent, now);
			if (refusal != null) {
				return refusal;
			}
		}
		return null;
	}

	/** Why there was no lease in time: its call has no answer, or is still to be made. */
	private UnansweredException notPaid() {
		for (LeasedSpec leased : leased()) {
			UnansweredException overdue = leased.gate().overdue();
			if (overdue != null) {
				return overdue;
			}
		}
		return WAITED_TOO_LONG;
	}

	/** The leases of all other counters; empty if one of them is strict. */
	private List<LeasedSpec> leased() {
		List<LeasedSpec> leased = new ArrayList<>(this.rest.size());
		for (Counter counter : this.rest) {
			LeasedSpec found = this.calls.find(counter);
			if (found == null) {
				return List.of();
			}
			leased.add(found);
		}
		return leased;
	}

	/** When it must have its answer, in nanoseconds. */
	long deadline() {
		return this.sent + this.timeout.toNanos();
	}

	/**
	 * Asks Redis. For a single counter the call also fetches a lease. For several, each
	 * lease is fetched by a separate call after the request has its answer: an earlier
	 * call could take the very permits that the request asks for.
	 */
	private void call(List<LeasedSpec> leased, long now) {
		Duration left = Duration.ofNanos(deadline() - now);
		if (leased.isEmpty()) {
			this.calls.ask(this.rest, this.permits, null, left, now, this::answeredAll);
			return;
		}
		Gate.Pass pass = leased.get(0).gate().begin(this.calls.patience(this.timeout));
		try {
			if (leased.size() == 1) {
				this.calls.askAlong(leased.get(0), pass, this.permits, left, now, this::answered);
			}
			else {
				this.calls.ask(this.rest, pass, this.permits, left, now, this::answeredAll);
			}
		}
		catch (Throwable ex) {
			Resumption.resume(this.calls.end(pass));
			throw ex;
		}
	}

	private void answeredAll(Grant grant) {
		fetch();
		answered(grant);
	}

	private void answered(Grant grant) {
		if (isSecond(grant)) {
			return;
		}
		if (grant.refused()) {
			refused(grant);
			return;
		}
		if (isUnanswered(grant)) {
			putBack(this.payments, this.permits.most());
		}
		end(paid(grant));
	}

	private void end(Grant grant) {
		this.ended = true;
		this.answer.accept(grant);
	}

	/**
	 * Whether handing over an answer failed and this is what comes in its place. Leases
	 * are settled already, so it is only handed on.
	 */
	private boolean isSecond(Grant grant) {
		boolean second = this.ended;
		if (second) {
			this.answer.accept(grant);
		}
		return second;
	}

	/** Whether no counter answered. The failure mode then also decides for the leased. */
	private static boolean isUnanswered(Grant grant) {
		return grant.readings().isEmpty() && grant.gaps().size() == 1;
	}

	private void fetch() {
		for (Counter counter : this.rest) {
			LeasedSpec leased = this.calls.find(counter);
			if (leased != null) {
				this.calls.fetchIfWanted(leased, this.timeout, this.calls.now());
			}
		}
	}

	/**
	 * Leases may have the very permits that Redis lacks: a lease that arrived in the
	 * meantime can pay, or leases and Redis together.
	 */
	private void refused(Grant refused) {
		long cost = this.permits.most();
		@Nullable Payment[] late = payRest(cost);
		if (late != null) {
			paidAfterAll(new Grant(this.permits, cost, readings(this.counters, late), Decision.Source.LEASE));
		}
		else {
			payTogether(refused);
		}
	}

	private void paidAfterAll(Grant grant) {
		this.calls.forgetRefusals(this.rest);
		end(paid(grant));
	}

	private void payTogether(Grant refused) {
		long available = refused.readings()
			.stream()
			.mapToLong((reading) -> reading.available() - reading.ahead())
			.min()
			.orElse(0);
		long lacking = this.permits.most() - available;
		long elapsed = this.calls.now() - this.sent;
		Duration left = this.timeout.minusNanos(elapsed);
		// A late answer would count against a node that is only slow.
		boolean possible = refused.complete() && refused.readings().size() == this.rest.size() && available > 0
				&& lacking > 0 && left.toNanos() > 2 * elapsed;
		@Nullable Payment[] late = possible ? payRest(lacking) : null;
		if (late == null) {
			putBack(this.payments, this.permits.most());
			end(refused);
			return;
		}
		this.calls.ask(this.rest, Permits.exactly(available), null, left, this.sent + elapsed, (grant) -> {
			if (isSecond(grant)) {
				return;
			}
			if (!grant.refused() && !isUnanswered(grant)) {
				putBackUnanswered(grant, late, lacking);
				paidAfterAll(new Grant(this.permits, this.permits.most(), withEarlier(grant.readings(), late, lacking),
						grant.gaps(), grant.source()));
				return;
			}
			putBack(late, lacking);
			if (isUnanswered(grant)) {
				grant.whenLate(this.calls::giveBack);
			}
			putBack(this.payments, this.permits.most());
			end(refused);
		});
	}

	/** Returns what leases paid for counters that did not answer. */
	private void putBackUnanswered(Grant grant, @Nullable Payment[] payments, long permits) {
		for (Counter counter : grant.unanswered()) {
			Payment payment = payments[this.counters.indexOf(counter)];
			if (payment != null) {
				payment.putBack(permits);
			}
		}
	}

	/** Adds the permits of leases, each with the time at which Redis granted it. */
	private List<Reading> withEarlier(List<Reading> readings, @Nullable Payment[] late, long permits) {
		List<Reading> all = new ArrayList<>(readings.size());
		for (Reading reading : readings) {
			Payment payment = late[this.counters.indexOf(reading.counter())];
			all.add((payment != null) ? reading.with(payment.taken(permits)) : reading);
		}
		return all;
	}

	/** Takes permits of each of the other counters from leases, or of none. */
	private @Nullable Payment @Nullable [] payRest(long permits) {
		long now = this.calls.now();
		@Nullable Payment[] late = new Payment[this.payments.length];
		for (int i = 0; i < late.length; i++) {
			if (this.payments[i] == null) {
				LeasedSpec leased = this.calls.find(this.counters.get(i));
				late[i] = (leased != null) ? leased.spendAgain(permits, now) : null;
				if (late[i] == null) {
					putBack(late, permits);
					return null;
				}
			}
		}
		return late;
	}

	private Grant paid(Grant asked) {
		if (isUnanswered(asked)) {
			return Grant.unanswered(asked.wanted(), asked.gaps().get(0).with(this.counters));
		}
		List<Reading> readings = readings(this.counters, this.payments);
		if (readings.isEmpty()) {
			return asked;
		}
		readings.addAll(asked.readings());
		return new Grant(asked.wanted(), asked.permits(), readings, asked.gaps(), asked.source());
	}

	/** The readings of the counters that have a payment. */
	private static List<Reading> readings(List<Counter> counters, @Nullable Payment[] payments) {
		List<Reading> readings = new ArrayList<>(counters.size());
		for (int i = 0; i < payments.length; i++) {
			Payment payment = payments[i];
			if (payment != null) {
				readings.add(payment.reading(counters.get(i)));
			}
		}
		return readings;
	}

	private static void putBack(@Nullable Payment[] payments, long permits) {
		for (Payment payment : payments) {
			if (payment != null) {
				payment.putBack(permits);
			}
		}
	}

}
