package dev.ratelimit.events;

import java.time.Duration;

/**
 * Where events go. Used by one thread; may keep it waiting for a moment.
 */
interface EventOutlet {

	/**
	 * Hands over an event.
	 * @param fate told exactly once what became of it if it was taken, never otherwise
	 * @return whether it was taken; if not, it can be handed over again
	 */
	boolean take(EventMessage message, Fate fate);

	/**
	 * Waits for what was taken, but no longer than this. After that its fate is known.
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
