package dev.ratelimit.events;

import java.time.Duration;

/**
 * Where events go. Used by one thread, which it may block for a moment.
 */
interface EventOutlet {

	/**
	 * Hands over an event.
	 * @param fate called exactly once if the event was taken, and never otherwise
	 * @return whether it was taken; if not, it can be handed over again
	 */
	boolean take(EventMessage message, Fate fate);

	/**
	 * Waits at most this long for events that were taken. Afterwards their fate is known.
	 */
	void close(Duration atMost);

	/**
	 * What becomes of an event. Called on any thread.
	 */
	interface Fate {

		/** The broker has it. */
		void delivered();

		/** It was taken and will not be tried again. */
		void lost(Exception cause);

		/** It was not taken, for now. */
		void delayed(Exception cause);

	}

}
