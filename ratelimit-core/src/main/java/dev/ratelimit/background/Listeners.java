package dev.ratelimit.background;

import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls listeners of the application. A listener that throws affects neither the other
 * listeners nor the caller.
 */
public final class Listeners {

	private static final Logger logger = LoggerFactory.getLogger(Listeners.class);

	private Listeners() {
	}

	/** Calls each listener; logs one that throws. */
	public static <T> void callAll(Iterable<? extends T> listeners, Consumer<T> call) {
		listeners.forEach((listener) -> call(listener, call));
	}

	/** Calls a listener; logs it if it throws. */
	public static <T> void call(T listener, Consumer<T> call) {
		try {
			call.accept(listener);
		}
		catch (RuntimeException ex) {
			logger.warn("{} failed", listener.getClass().getName(), ex);
		}
	}

}
