package dev.ratelimit.split;

import dev.ratelimit.counter.Counter;

/**
 * The current number of parts of a counter. Asked with every request, so it must be
 * cheap. All instances must give the same answer, or permits are granted twice.
 */
@FunctionalInterface
public interface Splitting {

	/** The number that the limit configures. */
	Splitting CONFIGURED = (counter) -> counter.spec().limit().split();

	/**
	 * The number of parts, 1 if the counter is whole.
	 */
	int parts(Counter counter);

}
