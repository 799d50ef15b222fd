package dev.ratelimit.split;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * A split counter of one request: the part that is asked now, and the answers of the
 * parts before it.
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

	private long timeAtKey = -1;

	/**
	 * Starts at the current part of this instance.
	 * @param least permits that a part must be able to grant at once
	 */
	Split(PartChoice choice, Counter whole, int count, long least) {
		this.whole = whole;
		this.count = count;
		this.first = choice.first(whole, count);
		this.stride = choice.stride(count);
		this.least = least;
		this.tried = -1;
		if (!next()) {
			// The cost never fits, and any part says so.
			this.tried = this.count - 1;
		}
		this.asked = ask();
	}

	Counter whole() {
		return this.whole;
	}

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
	 * Whether this is not the part that the search began with.
	 */
	boolean isElsewhere() {
		return part() != this.first;
	}

	/**
	 * The part has refused.
	 * @param central whether its node said so, not a remembered refusal
	 * @return whether there is more to try: other parts, or a grant without this counter
	 * if one of its parts did not answer
	 */
	boolean refused(Reading reading, boolean central) {
		this.refusals.add(reading);
		if (central && part() == 0) {
			this.timeAtKey = reading.time();
		}
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
	 * The reason for a missing answer after all parts were tried, {@code null} while
	 * there may be one.
	 */
	@Nullable UnansweredException unanswered() {
		return (this.tried >= this.count) ? this.failure : null;
	}

	/** The time of the node that has the key of the whole counter, if it refused. */
	long timeAtKey() {
		return this.timeAtKey;
	}

	List<Reading> refusals() {
		return this.refusals;
	}

	/** Moves to the next part that is large enough: parts differ in size. */
	private boolean next() {
		do {
			this.tried++;
		}
		while (this.tried < this.count && this.whole.spec().part(part(), this.count).largestCost() < this.least);
		return this.tried < this.count;
	}

}
