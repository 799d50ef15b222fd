package dev.ratelimit.limiter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;
import dev.ratelimit.Settling;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.policy.Match;

/**
 * Makes the receipts of decisions, and adds to them what is charged for a request in
 * other places. A policy without a {@code cost} has plain receipts.
 */
final class Settles {

	private final Counters counters;

	private final Observers observers;

	Settles(Counters counters, Observers observers) {
		this.counters = counters;
		this.observers = observers;
	}

	GrantReceipt receipt(Match match, Grant grant) {
		return receipt(match, grant, this.counters);
	}

	private GrantReceipt receipt(Match match, Grant grant, Counters counters) {
		Settling settling = match.policy().settings().settling();
		return (settling != null) ? new SettlingReceipt(counters, grant, match.policy().id(), settling, this.observers)
				: new GrantReceipt(counters, grant);
	}

	/**
	 * A decision of a failure mode, with a receipt of what counters of this process took.
	 */
	Decision local(Match match, Decision decision, Grant grant, Counters local) {
		return (match.policy().settings().settling() != null && grant.permits() > 0)
				? decision.withReceipt(receipt(match, grant, local)) : decision;
	}

	/**
	 * A decision that counters and a failure mode made together.
	 */
	static Decision merged(Decision answered, Decision patch) {
		if (answered.receipt() instanceof SettlingReceipt receipt && patch.receipt() instanceof SettlingReceipt local) {
			receipt.add(local);
		}
		return answered;
	}

	/**
	 * A decision that was made before all counters answered. Grants that come late are
	 * settled too, but for those of which a part is given back.
	 * @param kept permits that the request keeps
	 */
	Decision late(Match match, Decision decision, Grant grant, long kept) {
		Settling settling = match.policy().settings().settling();
		if (settling == null || !decision.allowed() || grant.complete()) {
			return decision;
		}
		boolean known = decision.receipt() instanceof SettlingReceipt;
		SettlingReceipt receipt = known ? (SettlingReceipt) decision.receipt()
				: new SettlingReceipt(this.counters, grant, match.policy().id(), settling, this.observers);
		grant.whenLate((late) -> {
			if (late.permits() <= kept) {
				receipt.add(this.counters, late, true);
			}
		});
		return known ? decision : decision.withReceipt(receipt);
	}

	/**
	 * The same decision with a receipt that can be settled, whatever its policy.
	 */
	Decision settleable(Decision decision) {
		if (!(decision.receipt() instanceof GrantReceipt receipt) || receipt instanceof SettlingReceipt
				|| receipt.left().permits() == 0) {
			return decision;
		}
		Grant left = receipt.close();
		return decision.withReceipt(new SettlingReceipt(receipt.counters(), left, decision.policy(),
				Settling.byCode(Math.max(1, left.permits())), this.observers));
	}

	/**
	 * A trial took permits for a decided request.
	 */
	void tried(Decision decision, Grant grant) {
		if (decision.receipt() instanceof SettlingReceipt receipt) {
			receipt.add(this.counters, grant, false);
		}
	}

	/**
	 * Corrects the counters that answered when they were read. Those that did not are
	 * lost.
	 * @param permits permits to charge, or if negative to give back as if they had been
	 * taken now; 0 for none
	 */
	void correct(Match match, Grant read, long permits) {
		if (read.readings().isEmpty()) {
			lost(match, permits);
		}
		else if (permits != 0) {
			Settlement rest = read.complete() ? Settlement.NOTHING : Settlement.LOST;
			long taken = Math.max(0, -permits);
			Grant grant = new Grant(Permits.exactly(taken), taken, read.readings(), read.source());
			this.counters.settle(new Correction(SettlingReceipt.newId(), grant, permits, System.nanoTime(), 0))
				.thenAccept((outcome) -> this.observers.settled(match.policy().id(), outcome.and(rest)));
		}
	}

	/**
	 * No counter is corrected, because none has answered.
	 */
	void lost(Match match, long permits) {
		if (permits != 0) {
			this.observers.settled(match.policy().id(), Settlement.LOST);
		}
	}

	/**
	 * Settles a receipt that was encoded, perhaps by another instance.
	 * @throws IllegalArgumentException if the bytes are not a receipt
	 */
	CompletionStage<Settlement> settle(byte[] encoded, long actual) {
		SettlingReceipt.requireCost(actual);
		ReceiptCodec.Decoded receipt = ReceiptCodec.decode(encoded, actual);
		return receipt.correction().grant().readings().isEmpty() ? CompletableFuture.completedStage(Settlement.NOTHING)
				: this.counters.settle(receipt.correction())
					.thenApply((outcome) -> this.observers.settled(receipt.policy(), outcome));
	}

}
