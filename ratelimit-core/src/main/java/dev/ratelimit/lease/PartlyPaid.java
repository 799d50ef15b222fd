package dev.ratelimit.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * A request that leases cannot pay for alone. Redis is asked for its other counters; if
 * they refuse, the leases get back what was spent. So a request is all or nothing,
 * whichever way its limits are enforced.
 */
final class PartlyPaid {

	private final LocalCounters locals;

	private final LeaseCalls calls;

	private final LongSupplier nanos;

	private final List<Counter> counters;

	/** By counter, {@code null} for those that Redis is asked for. */
	private final @Nullable Payment[] payments;

	private final List<Counter> rest;

	private final Permits permits;

	private final Duration timeout;

	private final long sent;

	PartlyPaid(LocalCounters locals, LeaseCalls calls, LongSupplier nanos, List<Counter> counters,
			@Nullable Payment[] payments, List<Counter> rest, Permits permits, Duration timeout, long sent) {
		this.locals = locals;
		this.calls = calls;
		this.nanos = nanos;
		this.counters = counters;
		this.payments = payments;
		this.rest = rest;
		this.permits = permits;
		this.timeout = timeout;
		this.sent = sent;
	}

	/**
	 * Asks Redis. One counter brings a lease along. Of several, each gets its lease by a
	 * call of its own when the request has its answer: sent before, that call could take
	 * the very permits that the request asks for.
	 */
	CompletionStage<Grant> ask() {
		LeasedSpec only = (this.rest.size() == 1) ? this.locals.find(this.rest.get(0)) : null;
		CompletionStage<Grant> answer = (only != null)
				? this.calls.askAlong(only, this.permits, this.timeout, this.sent)
				: this.calls.ask(this.rest, this.permits, this.timeout, this.sent)
					.whenComplete((grant, failure) -> fetch());
		return answer.whenComplete((grant, failure) -> {
			if (failure != null) {
				putBack(this.payments, this.permits.most());
			}
		}).thenCompose((grant) -> grant.refused() ? refused(grant) : CompletableFuture.completedStage(paid(grant)));
	}

	private void fetch() {
		for (Counter counter : this.rest) {
			LeasedSpec leased = this.locals.find(counter);
			if (leased != null) {
				this.calls.fetchIfWanted(leased, this.timeout, this.nanos.getAsLong());
			}
		}
	}

	/**
	 * Leases may have the very permits that Redis lacks: one that came in the meantime
	 * can pay, or what is left of others together with what Redis has.
	 */
	private CompletionStage<Grant> refused(Grant refused) {
		long cost = this.permits.most();
		@Nullable Payment[] late = payRest(cost);
		if (late != null) {
			this.calls.forgetRefusals(this.rest);
			return CompletableFuture.completedStage(
					paid(new Grant(this.permits, cost, Payment.readings(this.counters, late), Decision.Source.LEASE)));
		}
		return payTogether(refused).thenApply((grant) -> {
			if (grant.refused()) {
				putBack(this.payments, cost);
				return grant;
			}
			this.calls.forgetRefusals(this.rest);
			return paid(grant);
		});
	}

	private CompletionStage<Grant> payTogether(Grant refused) {
		long there = refused.readings()
			.stream()
			.mapToLong((reading) -> reading.available(reading.time()) - reading.ahead())
			.min()
			.orElse(0);
		long lacking = this.permits.most() - there;
		long elapsed = this.nanos.getAsLong() - this.sent;
		Duration left = this.timeout.minusNanos(elapsed);
		// An answer that comes too late would count against a node that is only slow.
		boolean possible = refused.complete() && refused.readings().size() == this.rest.size() && there > 0
				&& lacking > 0 && left.toNanos() > 2 * elapsed;
		@Nullable Payment[] late = possible ? payRest(lacking) : null;
		if (late == null) {
			return CompletableFuture.completedStage(refused);
		}
		return this.calls.ask(this.rest, Permits.exactly(there), left, this.sent + elapsed).handle((grant, failure) -> {
			if (grant != null && !grant.refused()) {
				return new Grant(this.permits, this.permits.most(), grant.readings(), grant.gaps(), grant.source());
			}
			putBack(late, lacking);
			if (failure != null) {
				UnansweredException.of(failure).late().thenAccept(this.calls::giveBack);
			}
			return refused;
		});
	}

	/** Takes permits of each of the other counters from leases, or of none. */
	private @Nullable Payment @Nullable [] payRest(long permits) {
		long now = this.nanos.getAsLong();
		@Nullable Payment[] late = new Payment[this.payments.length];
		for (int i = 0; i < late.length; i++) {
			if (this.payments[i] == null) {
				LeasedSpec leased = this.locals.find(this.counters.get(i));
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
		List<Reading> readings = Payment.readings(this.counters, this.payments);
		if (readings.isEmpty()) {
			return asked;
		}
		readings.addAll(asked.readings());
		return new Grant(asked.wanted(), asked.permits(), readings, asked.gaps(), asked.source());
	}

	private static void putBack(@Nullable Payment[] payments, long permits) {
		for (Payment payment : payments) {
			if (payment != null) {
				payment.putBack(permits);
			}
		}
	}

}
