package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Quota;
import dev.ratelimit.Settlement;
import dev.ratelimit.Settling;
import dev.ratelimit.caller.DigestText;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;

/**
 * The receipt of a decision whose true cost is known later. It knows everything that was
 * charged for the request: the grant of the decision, grants that came late, counters of
 * this process that decided in an outage, and counters of trials. Each is corrected once,
 * also one that is added after the settle.
 */
final class SettlingReceipt extends GrantReceipt {

	private static final long OPEN = -1;

	/** 96 bits, as in the keys of counters. */
	private static final int ID_BYTES = 12;

	private final String policy;

	private final Settling settling;

	private final Observers observers;

	private final String id = newId();

	private final long received = System.nanoTime();

	/** Besides the grant of the decision. */
	private final List<Charge> others = new ArrayList<>(0);

	private long actual = OPEN;

	/** When the last settle may begin, in nanoseconds; only if another one may come. */
	private long validUntil;

	/**
	 * The same on the clock of the store; 0 if neither another instance nor another
	 * attempt of the request can settle.
	 */
	private long until;

	/** Whether another instance may settle. */
	private boolean encoded;

	SettlingReceipt(Counters counters, Grant grant, String policy, Settling settling, Observers observers) {
		super(counters, grant);
		this.policy = policy;
		this.settling = settling;
		this.observers = observers;
		this.until = AttemptReading.settledUntil(grant);
		if (this.until > 0) {
			this.validUntil = this.received + 1_000 * (this.until - correction(grant).storeTime(this.received));
		}
	}

	private Correction correction(Grant grant) {
		return new Correction(this.id, grant, 0, this.received, 0);
	}

	static String newId() {
		byte[] id = new byte[ID_BYTES];
		ThreadLocalRandom.current().nextBytes(id);
		return DigestText.encode(id, ID_BYTES);
	}

	/**
	 * Adds a grant that was made for the same request.
	 * @param reported whether it counts in the meter of settles
	 */
	void add(Counters counters, Grant grant, boolean reported) {
		if (grant.permits() == 0 || grant.readings().isEmpty()) {
			return;
		}
		Charge charge;
		long actual;
		synchronized (this) {
			charge = new Charge(counters, grant, this.id + (this.others.size() + 1), System.nanoTime(), reported);
			this.others.add(charge);
			actual = this.actual;
		}
		if (actual != OPEN) {
			report(charge.settle(actual, 0), reported);
		}
	}

	/** Adds what another receipt of the same request has charged. */
	void add(SettlingReceipt other) {
		add(other.counters(), other.close(), true);
	}

	@Override
	public Settling settling() {
		return this.settling;
	}

	@Override
	public synchronized void costUnknown() {
		if (this.actual == OPEN) {
			this.observers.settled(this.policy, Settlement.ESTIMATED);
		}
	}

	/**
	 * Gives permits back. Once another instance can settle, or if a part of what attempts
	 * of one request share is given back, this is a settle too: both together would give
	 * the same permits back twice. All permits of an attempt go back without a settle:
	 * another attempt may hold them and settle them later.
	 */
	@Override
	public CompletionStage<Void> giveBack(long permits) {
		long kept;
		synchronized (this) {
			if (permits <= 0 || this.until == 0 || !this.encoded && permits >= left().permits()) {
				return super.giveBack(permits);
			}
			kept = Math.max(0, left().permits() - permits);
		}
		return settle(kept).thenApply((outcome) -> null);
	}

	@Override
	public CompletionStage<Settlement> settle(long actual) {
		requireCost(actual);
		List<Charge> charges;
		synchronized (this) {
			boolean late = this.until > 0 && System.nanoTime() - this.validUntil > 0;
			if (this.actual != OPEN || late && !isRecorded()) {
				return CompletableFuture.completedStage(Settlement.NOTHING);
			}
			this.actual = actual;
			if (late) {
				// Another attempt may have settled, and nothing is left to tell.
				close();
				return report(CompletableFuture.completedStage(Settlement.LOST), true);
			}
			charges = new ArrayList<>(this.others);
		}
		Grant own = close();
		if (own.permits() > 0 && !own.readings().isEmpty()) {
			charges.add(new Charge(counters(), own, this.id, this.received, true));
		}
		CompletionStage<Settlement> all = CompletableFuture.completedStage(Settlement.NOTHING);
		for (Charge charge : charges) {
			CompletionStage<Settlement> one = charge.settle(actual, this.until);
			all = charge.reported() ? all.thenCombine(one, Settlement::and) : all;
		}
		return report(all, true);
	}

	private boolean isRecorded() {
		return AttemptReading.settledUntil(grant()) > 0;
	}

	static void requireCost(long actual) {
		if (actual < 0 || actual > Quota.MAX_PERMITS) {
			throw new IllegalArgumentException(
					"the true cost must be 0 to " + Quota.MAX_PERMITS + " but was " + actual);
		}
	}

	private CompletionStage<Settlement> report(CompletionStage<Settlement> outcome, boolean reported) {
		return reported ? outcome.thenApply((known) -> this.observers.settled(this.policy, known)) : outcome;
	}

	@Override
	public synchronized byte @Nullable [] encode(Duration validFor) {
		Grant left = left();
		if (counters().source() == Decision.Source.MEMORY || this.actual != OPEN || left.permits() == 0
				|| left.readings().isEmpty()) {
			return null;
		}
		long now = System.nanoTime();
		if (this.until == 0 || isRecorded() && now + validFor.toNanos() - this.validUntil > 0) {
			this.validUntil = now + validFor.toNanos();
			this.until = correction(grant()).storeTime(this.validUntil);
		}
		this.encoded = true;
		return ReceiptCodec.encode(this.policy, this.id, this.until, left);
	}

	/**
	 * What was charged in one step.
	 */
	private record Charge(Counters counters, Grant grant, String id, long received, boolean reported) {

		CompletionStage<Settlement> settle(long actual, long until) {
			long difference = actual - this.grant.permits();
			long last = Math.max(until, AttemptReading.settledUntil(this.grant));
			// The estimate was right, and nobody else can settle something else.
			return (difference == 0 && last == 0) ? CompletableFuture.completedStage(Settlement.SETTLED)
					: this.counters.settle(new Correction(this.id, this.grant, difference, this.received, last));
		}

	}

}
