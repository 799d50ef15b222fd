package dev.ratelimit.counter;

import java.time.Duration;

/**
 * Why a call takes permits ahead: later requests spend them, so the call is worth having
 * after the timeout of the request that made it.
 */
public interface Refill {

	/**
	 * Time for which the call goes on, at least the timeout.
	 */
	Duration patience();

	/**
	 * How many requests wait for the call now.
	 */
	int waiting();

	/**
	 * How many requests have given up waiting for the call; each is reported once. If the
	 * node stays silent, they are checks that it did not answer.
	 */
	int takeGivenUp();

}
