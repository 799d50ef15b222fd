package dev.ratelimit.store;

/**
 * A call does not fit the state of the store: the store has lost records, or a recovery
 * is wanted although it has lost none.
 */
public final class StoreIncidentException extends IllegalStateException {

	public StoreIncidentException(String message) {
		super(message);
	}

}
