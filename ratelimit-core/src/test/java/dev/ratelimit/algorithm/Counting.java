package dev.ratelimit.algorithm;

import java.util.List;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

/**
 * One counter driven the way a store drives it: settle, look, take; and a state that is
 * ahead of its clock is stored even when nothing is taken.
 */
final class Counting {

	final Formula formula;

	final Pace[] paces;

	long[] state = Formula.UNUSED;

	/** When the last attempt came. */
	long time;

	Counting(Algorithm algorithm, List<Quota> quotas) {
		this.formula = Formula.of(algorithm);
		this.paces = Pace.of(quotas, List.of());
	}

	static Counting of(Algorithm algorithm, String... quotas) {
		return new Counting(algorithm, List.of(quotas).stream().map(Quota::parse).toList());
	}

	/**
	 * The same state under other quotas, as after a change of policy.
	 */
	Counting under(Algorithm algorithm, List<Quota> quotas) {
		Counting changed = new Counting(algorithm, quotas);
		changed.state = this.state;
		changed.time = this.time;
		return changed;
	}

	Counting copy() {
		return copy(this.state);
	}

	Counting copy(long[] state) {
		return new Counting(this.formula, this.paces, state, this.time);
	}

	private Counting(Formula formula, Pace[] paces, long[] state, long time) {
		this.formula = formula;
		this.paces = paces;
		this.state = state;
		this.time = time;
	}

	boolean attempt(long now, long cost) {
		this.time = now;
		long[] settled = settled(now);
		boolean admitted = cost <= this.formula.available(settled, this.paces, now);
		if (admitted && cost > 0) {
			this.state = this.formula.take(settled, this.paces, now, cost);
		}
		else if (this.formula.outruns(this.state, this.paces, now)) {
			this.state = settled;
		}
		return admitted;
	}

	void giveBack(long now, long since, long permits) {
		this.state = this.formula.giveBack(settled(now), this.paces, now, since, permits);
	}

	long[] settled(long now) {
		return this.formula.settle(this.state, this.paces, now);
	}

	long available(long now) {
		return this.formula.available(settled(now), this.paces, now);
	}

	long remaining(int quota, long now) {
		return this.formula.remaining(settled(now), this.paces, quota, now);
	}

	long waitFor(int quota, long now, long permits) {
		return this.formula.wait(settled(now), this.paces, quota, now, permits);
	}

	/**
	 * How long until all quotas have this many permits.
	 */
	long waitFor(long now, long permits) {
		long longest = 0;
		for (int quota = 0; quota < this.paces.length; quota++) {
			longest = Math.max(longest, waitFor(quota, now, permits));
		}
		return longest;
	}

	long resetAfter(int quota, long now) {
		return this.formula.resetAfter(settled(now), this.paces, quota, now);
	}

}
