package dev.ratelimit.counter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Where instances tell each other which counters they are asked for most, and where marks
 * are kept. Never throws: what fails completes exceptionally.
 */
public interface HotStore {

	/** How many counters can be marked: all instances read all marks every second. */
	int MAX_MARKS = 100;

	/**
	 * Adds what this instance has seen in the last second, and reads what all have.
	 * @param seen the most asked for counters of this instance
	 * @param refused those of this instance that refuse most
	 * @param top how many of the fleet's to read, of either kind
	 */
	CompletionStage<View> exchange(List<HotKey> seen, List<RefusedKey> refused, int top);

	/**
	 * Keeps a mark until no time is left; replaces one of the same counter.
	 * @return {@code false} if there are too many already
	 */
	CompletionStage<Boolean> put(HotMark mark);

	/**
	 * Keeps a mark if its counter has none, so that only one instance acts on it.
	 * @return {@code false} if it has one, or if there are too many
	 */
	CompletionStage<Boolean> claim(HotMark mark);

	/**
	 * Takes a mark away, if there is one.
	 * @param key of the counter
	 */
	CompletionStage<Void> remove(String key);

	/**
	 * What is known of the whole fleet.
	 *
	 * @param fleet its most asked for counters, most first, over the last full second
	 * @param refused those that refuse most, most first
	 * @param marks all that hold
	 * @param next when it is worth looking again
	 */
	record View(List<HotKey> fleet, List<RefusedKey> refused, List<HotMark> marks, Duration next) {

		/** When nothing is known. */
		public static final View NOTHING = new View(List.of(), List.of(), List.of(), Duration.ofSeconds(1));

		public View {
			fleet = List.copyOf(fleet);
			refused = List.copyOf(refused);
			marks = List.copyOf(marks);
		}

	}

}
