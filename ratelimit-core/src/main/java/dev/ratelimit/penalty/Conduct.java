package dev.ratelimit.penalty;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Penalty;

/**
 * The refusals of one caller that this instance has seen. A pure value: a refusal makes a
 * new one. Times are nanoseconds of a monotonic clock.
 *
 * @param running whether there was a refusal at all
 * @param first first refusal of the run
 * @param end end of the run
 * @param offences offences that are not forgotten, of the whole fleet as far as known
 * @param last last offence; only defined if there are offences
 * @param began length of what the last refusal began, 0 for nothing
 * @param banned whether the last refusal began a ban, not a cool-down
 * @param unsent what the fleet does not know yet
 */
record Conduct(boolean running, long first, long end, long offences, long last, long began, boolean banned,
		Unsent unsent) {

	static final Conduct NONE = new Conduct(false, 0, 0, 0, 0, 0, false, Unsent.NOTHING);

	private static final long GRACE = Penalty.GRACE.toNanos();

	/**
	 * The conduct after one more refusal.
	 * @param now time of the refusal
	 * @param wait announced wait
	 * @param central the same refusal by Redis's clock; {@code null} if Redis did not
	 * answer it
	 */
	Conduct refused(long now, long wait, @Nullable Central central, Penalty terms) {
		boolean fresh = !this.running || now - this.end >= 0;
		long first = fresh ? now : this.first;
		long end = fresh ? now + wait : latest(this.end, now + wait);
		if (fresh || now - first < GRACE) {
			Unsent more = (central != null) ? this.unsent.with(central, fresh) : this.unsent;
			return new Conduct(true, first, end, this.offences, this.last, 0, false, more);
		}
		long offences = 1 + (isForgotten(now, terms) ? 0 : this.offences);
		boolean banned = terms.bansAt(offences);
		long began = banned ? terms.banFor().toNanos() : terms.coolDownAt(offences).toNanos();
		return new Conduct(true, first, latest(end, now + began), banned ? 0 : offences, now, began, banned,
				this.unsent.withOffence());
	}

	/** The conduct after its report was sent. */
	Conduct sent() {
		return new Conduct(this.running, this.first, this.end, this.offences, this.last, 0, false, Unsent.NOTHING);
	}

	/**
	 * The conduct with the offences of the whole fleet.
	 * @param offences of the fleet, without those not sent
	 * @param age time since the last of them
	 */
	Conduct learned(long offences, long age, long now) {
		long last = (this.unsent.offences() > 0) ? this.last : now - age;
		return new Conduct(this.running, this.first, this.end, offences + this.unsent.offences(), last, 0, false,
				this.unsent);
	}

	private boolean isForgotten(long now, Penalty terms) {
		return this.offences == 0 || now - this.last >= terms.max().toNanos();
	}

	private static long latest(long one, long other) {
		return (one - other > 0) ? one : other;
	}

	/**
	 * A refusal by Redis, in microseconds of its clock.
	 *
	 * @param time when Redis refused
	 * @param end end of the wait that was announced to the caller
	 */
	record Central(long time, long end) {
	}

	/**
	 * What the fleet does not know yet.
	 *
	 * @param offences offences
	 * @param first the first of the refusals by Redis that were no offence here,
	 * {@code null} for none: seen by the fleet they may be
	 * @param count number of these refusals
	 */
	record Unsent(long offences, @Nullable Central first, long count) {

		static final Unsent NOTHING = new Unsent(0, null, 0);

		boolean isNothing() {
			return this.offences == 0 && this.first == null;
		}

		Unsent withOffence() {
			return new Unsent(this.offences + 1, this.first, this.count);
		}

		/** Refusals of an earlier run that were not sent are dropped. */
		Unsent with(Central refusal, boolean fresh) {
			Central known = fresh ? null : this.first;
			return (known == null) ? new Unsent(this.offences, refusal, 1) : new Unsent(this.offences,
					new Central(known.time(), Math.max(known.end(), refusal.end())), this.count + 1);
		}

	}

}
