package dev.ratelimit.store;

import java.util.Map;
import java.util.stream.Collectors;

import dev.ratelimit.store.RecordKey.Kind;

/**
 * Accepting the store's records would remove records of this instance, and the number of
 * them was not confirmed. Nothing was changed.
 */
public final class ConfirmationException extends RuntimeException {

	private final long number;

	ConfirmationException(Map<Kind, Long> removed) {
		super("Accepting what the store has removes " + removed.entrySet()
			.stream()
			.map((kind) -> kind.getValue() + " of kind " + kind.getKey().text())
			.collect(Collectors.joining(", ")), null, false, false);
		this.number = removed.values().stream().mapToLong(Long::longValue).sum();
	}

	/** How many records would be removed. */
	public long number() {
		return this.number;
	}

}
