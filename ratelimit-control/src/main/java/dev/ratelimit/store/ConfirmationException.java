package dev.ratelimit.store;

import java.util.Map;
import java.util.stream.Collectors;

import dev.ratelimit.store.RecordKey.Kind;

/**
 * A decision about a store that has lost data would remove records, and their number was
 * not confirmed. Nothing was changed.
 */
public final class ConfirmationException extends RuntimeException {

	private final long number;

	ConfirmationException(String decision, Map<Kind, Long> removed) {
		super(decision + " removes " + (removed.isEmpty() ? "no records" : text(removed)), null, false, false);
		this.number = removed.values().stream().mapToLong(Long::longValue).sum();
	}

	private static String text(Map<Kind, Long> removed) {
		return removed.entrySet()
			.stream()
			.map((kind) -> kind.getValue() + " of kind " + kind.getKey().text())
			.collect(Collectors.joining(", "));
	}

	/** How many records would be removed. */
	public long number() {
		return this.number;
	}

}
