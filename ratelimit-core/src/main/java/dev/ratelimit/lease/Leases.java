package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * The leases of one counter under one spec, in the order in which they expire. The oldest
 * is spent first, and its last permits pay together with the next one; so nothing is lost
 * that a request could use before it expires.
 *
 * <p>
 * Spending takes no lock and, from a single lease, no memory. The array is replaced once
 * per lease, by one thread at a time.
 */
final class Leases {

	/**
	 * As a rule there are two. More come when Redis answers later than the deadline of a
	 * check; then the oldest, which expires first, makes room.
	 */
	private static final int MOST = 16;

	private static final Lease[] NONE = {};

	private volatile Lease[] leases = NONE;

	/**
	 * Spends permits.
	 * @return what was spent, {@code null} if all leases together have too little
	 */
	@Nullable Payment spend(long permits, long now) {
		Lease[] leases = this.leases;
		for (int i = 0; i < leases.length; i++) {
			Lease lease = leases[i];
			if (!lease.isOver(now)) {
				if (lease.take(permits)) {
					return lease;
				}
				if (lease.get() > 0) {
					return Together.spend(leases, i, permits, now);
				}
			}
		}
		return null;
	}

	/**
	 * Permits that are not spent and not over.
	 */
	long left(long now) {
		long left = 0;
		for (Lease lease : this.leases) {
			left += lease.isOver(now) ? 0 : Math.max(0, lease.get());
		}
		return left;
	}

	/**
	 * Whether one is not over yet, spent or not.
	 */
	boolean isLive(long now) {
		Lease[] leases = this.leases;
		return leases.length > 0 && !leases[leases.length - 1].isOver(now);
	}

	/**
	 * Whether so much is left that the next one need not be fetched yet.
	 */
	boolean areEnough(long now) {
		Lease[] leases = this.leases;
		if (leases.length == 0) {
			return false;
		}
		long enough = leases[leases.length - 1].lowWater();
		for (int i = leases.length - 1; i >= 0 && enough >= 0; i--) {
			enough -= leases[i].isOver(now) ? 0 : Math.max(0, leases[i].get());
		}
		return enough < 0;
	}

	/**
	 * Permits spent since this was last called.
	 */
	synchronized long spentSince() {
		long spent = 0;
		for (Lease lease : this.leases) {
			spent += lease.spentSince();
		}
		return spent;
	}

	synchronized void add(Lease lease) {
		List<Lease> kept = new ArrayList<>(List.of(this.leases));
		int place = kept.size();
		while (place > 0 && lease.expiresBefore(kept.get(place - 1))) {
			place--;
		}
		kept.add(place, lease);
		this.leases = kept.subList(Math.max(0, kept.size() - MOST), kept.size()).toArray(Lease[]::new);
	}

	/**
	 * Takes out the leases that are spent or over.
	 */
	synchronized List<Lease> removeEnded(long now) {
		List<Lease> kept = new ArrayList<>();
		List<Lease> ended = new ArrayList<>();
		for (Lease lease : this.leases) {
			(lease.isOver(now) || lease.get() <= 0 ? ended : kept).add(lease);
		}
		if (!ended.isEmpty()) {
			this.leases = kept.toArray(Lease[]::new);
		}
		return ended;
	}

	/**
	 * Takes out all leases, to be given back.
	 */
	synchronized List<Lease> removeAll() {
		List<Lease> all = List.of(this.leases);
		this.leases = NONE;
		return all;
	}

	/**
	 * Leases of which none has enough alone.
	 */
	private static final class Together implements Payment {

		private final Lease[] leases;

		private final long[] taken;

		private Together(Lease[] leases, long[] taken) {
			this.leases = leases;
			this.taken = taken;
		}

		static @Nullable Payment spend(Lease[] leases, int from, long permits, long now) {
			long there = 0;
			for (int i = from; i < leases.length; i++) {
				there += leases[i].isOver(now) ? 0 : Math.max(0, leases[i].get());
			}
			if (there < permits) {
				return null;
			}
			Together payment = new Together(leases, new long[leases.length]);
			long missing = permits;
			for (int i = from; i < leases.length && missing > 0; i++) {
				payment.taken[i] = leases[i].isOver(now) ? 0 : leases[i].takeUpTo(missing);
				missing -= payment.taken[i];
			}
			if (missing > 0) {
				// Others were faster.
				payment.putBack(permits - missing);
				return null;
			}
			return payment;
		}

		@Override
		public void putBack(long permits) {
			for (int i = 0; i < this.leases.length; i++) {
				if (this.taken[i] > 0) {
					this.leases[i].putBack(this.taken[i]);
				}
			}
		}

		/**
		 * In the name of the newest one, whose window lasts longest: a give-back to Redis
		 * carries the time of one grant.
		 */
		@Override
		public Reading reading(Counter counter) {
			int newest = this.leases.length - 1;
			while (this.taken[newest] == 0) {
				newest--;
			}
			return this.leases[newest].reading(counter);
		}

	}

}
