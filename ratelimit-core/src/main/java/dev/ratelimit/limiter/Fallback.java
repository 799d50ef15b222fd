package dev.ratelimit.limiter;

import java.util.function.IntSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.FailureMode;
import dev.ratelimit.counter.Counters;

/**
 * What decides when the counters cannot or must not.
 *
 * @param local counters of this process
 * @param instances how many instances share the limits when each counts by itself
 * @param forced the mode that answers instead of the counters, {@code null} as a rule
 */
public record Fallback(Counters local, IntSupplier instances, Supplier<@Nullable FailureMode> forced) {

	/**
	 * For a limiter that is alone.
	 */
	public static Fallback to(Counters local) {
		return new Fallback(local, () -> 1, () -> null);
	}

}
