package dev.ratelimit.store;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Numbers that instances count by themselves, added up over the fleet. They are forgotten
 * when nobody has added to them for a day.
 */
@FunctionalInterface
public interface FleetSums {

	/**
	 * Adds to the numbers of a name. Never throws or blocks; fails if they cannot be
	 * reached, and then it is open whether they were added.
	 * @param name what is counted
	 * @param numbers what this instance has counted since it last did this, as many as
	 * always under this name
	 * @return the sums, in the same order
	 */
	CompletionStage<List<Long>> add(String name, List<Long> numbers);

}
