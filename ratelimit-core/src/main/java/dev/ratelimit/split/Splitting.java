package dev.ratelimit.limiter;

import dev.ratelimit.counter.Counter;

/**
 * In how many parts a counter is kept now. Asked with every request, so it has to be
 * cheap; all instances have to answer alike, or permits are handed out twice.
 */
@FunctionalInterface
public interface Splitting {

	/** As the limit says. */
	Splitting CONFIGURED = (counter) -> counter.spec().limit().split();

	/** For counters that no node has to be relieved of. */
	Splitting NONE = (counter) -> 1;

	/**
	 * How many parts a counter has, 1 if it is kept in one piece.
	 */
	int parts(Counter counter);

}
