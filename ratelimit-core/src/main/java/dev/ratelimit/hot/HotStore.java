package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Shares the busiest counters among instances, and keeps marks. Never throws: a failure
 * completes the stage exceptionally.
 */
public interface HotStore {

	/** Largest number of marks: all instances read all of them every second. */
	int MAX_MARKS = 100;

	/**
	 * Adds the rates of this instance in the last second, and reads those of all.
	 * @param seen the busiest counters of this instance
	 * @param refused the counters of this instance that refuse most
	 * @param top how many counters of the fleet to read, of either kind
	 */
	CompletionStage<View> exchange(List<HotKey> seen, List<RefusedKey> refused, int top);

	/**
	 * Keeps a mark until it expires; replaces an earlier one of the same counter.
	 * @return {@code false} if there are too many marks
	 */
	CompletionStage<Boolean> put(HotMark mark);

	/**
	 * Keeps a mark if its counter has none, so that only one instance acts on it.
	 * @return {@code false} if it has one, or if there are too many marks
	 */
	CompletionStage<Boolean> claim(HotMark mark);

	/**
	 * Removes a mark, if there is one.
	 * @param key key of the counter
	 */
	CompletionStage<Void> remove(String key);

	/**
	 * The view of the whole fleet.
	 *
	 * @param fleet its busiest counters, busiest first, over the last full second
	 * @param refused those that refuse most, most first
	 * @param marks all marks
	 * @param next time until the next exchange is worthwhile
	 */
	record View(List<HotKey> fleet, List<RefusedKey> refused, List<HotMark> marks, Duration next) {

		/** The view before the first exchange. */
		public static final View NOTHING = new View(List.of(), List.of(), List.of(), Duration.ofSeconds(1));

		public View {
			fleet = List.copyOf(fleet);
			refused = List.copyOf(refused);
			marks = List.copyOf(marks);
		}

	}

}
