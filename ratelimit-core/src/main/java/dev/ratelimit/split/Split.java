package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * A counter of one request that is kept in parts: which of them is asked, and what those
 * before it said.
 */
final class Split {

	private final Counter whole;

	private final int count;

	private final int first;

	private final int stride;

	private final long least;

	private final List<Reading> refusals = new ArrayList<>(0);

	private int tried;

	private Counter asked;

	private @Nullable UnansweredException failure;

	/**
	 * Starts at the part that the instance is at.
	 * @param least permits that a part must be able to have
	 */
	Split(Parts parts, Counter whole, int count, long least) {
		this.whole = whole;
		this.count = count;
		this.first = parts.first(whole, count);
		this.stride = parts.stride(count);
		this.least = least;
		this.tried = -1;
		if (!next()) {
			// It can never fit, and any part says so.
			this.tried = this.count - 1;
		}
		this.asked = ask();
	}

	Counter whole() {
		return this.whole;
	}

	/**
	 * The part that is to be asked now.
	 */
	Counter ask() {
		this.asked = this.whole.part(part(), this.count);
		return this.asked;
	}

	/**
	 * Whether this is the part that was asked last.
	 */
	boolean asked(Counter counter) {
		return this.asked.equals(counter);
	}

	int part() {
		return (this.first + this.tried * this.stride) % this.count;
	}

	/**
	 * Whether it is not the part that the instance was at.
	 */
	boolean isElsewhere() {
		return part() != this.first;
	}

	/**
	 * The part has refused.
	 * @return whether there is more to try: other parts, or to go without a counter of
	 * which some part did not answer
	 */
	boolean refused(Reading reading) {
		this.refusals.add(reading);
		return next() || this.failure != null;
	}

	/**
	 * The part has not answered.
	 * @return whether there are other parts
	 */
	boolean failed(UnansweredException cause) {
		this.failure = cause;
		return next();
	}

	/**
	 * Why there is no answer although all parts were tried, {@code null} as long as there
	 * may be one.
	 */
	@Nullable UnansweredException unanswered() {
		return (this.tried >= this.count) ? this.failure : null;
	}

	/**
	 * What the parts that refused said.
	 */
	List<Reading> refusals() {
		return this.refusals;
	}

	/** The next part that could ever have enough, as they are not all of one size. */
	private boolean next() {
		do {
			this.tried++;
		}
		while (this.tried < this.count && this.whole.spec().part(part(), this.count).largestCost() < this.least);
		return this.tried < this.count;
	}

}
