package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * The leases of one counter under one spec, in the order in which they expire. The oldest
 * is spent first, and its last permits pay together with the next one, so no permit
 * expires that a request could have used.
 *
 * <p>
 * Spending takes no lock and, from a single lease, no memory. The array is replaced once
 * per lease, by one thread at a time.
 */
final class Leases {

	/**
	 * Usually there are two. There are more when Redis answers later than the deadline of
	 * a check; then the oldest, which expires first, is dropped.
	 */
	private static final int MOST = 16;

	private static final Lease[] NONE = {};

	private volatile Lease[] leases = NONE;

	/**
	 * Spends permits.
	 * @return the payment, {@code null} if all leases together have too few
	 */
	@Nullable Payment spend(long permits, long now) {
		Lease[] leases = this.leases;
		for (int i = 0; i < leases.length; i++) {
			Lease lease = leases[i];
			if (!lease.isOver(now)) {
				if (lease.take(permits, permits) > 0) {
					return lease;
				}
				if (lease.get() > 0) {
					return Together.spend(leases, i, permits, now);
				}
			}
		}
		return null;
	}

	long left(long now) {
		long left = 0;
		for (Lease lease : this.leases) {
			left += lease.left(now);
		}
		return left;
	}

	/**
	 * Whether a lease has not expired, spent or not.
	 */
	boolean isLive(long now) {
		Lease[] leases = this.leases;
		return leases.length > 0 && !leases[leases.length - 1].isOver(now);
	}

	/**
	 * Whether enough permits are left to fetch no other lease yet.
	 */
	boolean areEnough(long now) {
		Lease[] leases = this.leases;
		if (leases.length == 0) {
			return false;
		}
		long enough = leases[leases.length - 1].lowWater();
		for (int i = leases.length - 1; i >= 0 && enough >= 0; i--) {
			enough -= leases[i].left(now);
		}
		return enough < 0;
	}

	/**
	 * Permits spent since the last call of this method.
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
	 * Returns permits to a lease. A lease that was removed because it was spent is added
	 * again: the request that spent its last permits may be refused by another limit.
	 */
	synchronized void putBack(Lease lease, long permits) {
		lease.addAndGet(permits);
		for (Lease known : this.leases) {
			if (known == lease) {
				return;
			}
		}
		add(lease);
	}

	/**
	 * Removes the leases that are spent or expired.
	 */
	synchronized List<Lease> removeEnded(long now) {
		List<Lease> kept = new ArrayList<>();
		List<Lease> ended = new ArrayList<>();
		for (Lease lease : this.leases) {
			((lease.isOver(now) || lease.get() <= 0) ? ended : kept).add(lease);
		}
		if (!ended.isEmpty()) {
			this.leases = kept.toArray(Lease[]::new);
		}
		return ended;
	}

	synchronized List<Lease> removeAll() {
		List<Lease> all = List.of(this.leases);
		this.leases = NONE;
		return all;
	}

	/**
	 * Several leases that pay together: none of them has enough alone.
	 */
	private static final class Together implements Payment {

		private final Lease[] leases;

		private final long[] taken;

		private Together(Lease[] leases, long[] taken) {
			this.leases = leases;
			this.taken = taken;
		}

		static @Nullable Payment spend(Lease[] leases, int from, long permits, long now) {
			long left = 0;
			for (int i = from; i < leases.length; i++) {
				left += leases[i].left(now);
			}
			if (left < permits) {
				return null;
			}
			Together payment = new Together(leases, new long[leases.length]);
			long missing = permits;
			for (int i = from; i < leases.length && missing > 0; i++) {
				payment.taken[i] = leases[i].isOver(now) ? 0 : leases[i].take(1, missing);
				missing -= payment.taken[i];
			}
			if (missing > 0) {
				// Other threads were faster.
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
		 * The counter as of the newest lease. Each lease was granted at its own time,
		 * which a give-back to Redis needs.
		 */
		@Override
		public Reading reading(Counter counter) {
			int newest = this.leases.length - 1;
			while (this.taken[newest] == 0) {
				newest--;
			}
			return this.leases[newest].reading(counter).with(taken(newest - 1));
		}

		@Override
		public List<Reading.Taken> taken(long permits) {
			return taken(this.leases.length - 1);
		}

		private List<Reading.Taken> taken(int from) {
			List<Reading.Taken> taken = new ArrayList<>();
			for (int i = from; i >= 0; i--) {
				if (this.taken[i] > 0) {
					taken.addAll(this.leases[i].taken(this.taken[i]));
				}
			}
			return taken;
		}

	}

}
