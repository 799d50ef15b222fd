package dev.ratelimit.limiter;

import java.util.function.IntSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.FailureMode;
import dev.ratelimit.counter.Counters;

/**
 * Decides when the counters cannot or must not.
 *
 * @param local counters of this process
 * @param instances number of instances that share the limits when each counts locally
 * @param forced the mode that decides instead of the counters, usually {@code null}
 */
public record Fallback(Counters local, IntSupplier instances, Supplier<@Nullable FailureMode> forced) {

	/**
	 * The fallback of a single instance without a switch.
	 */
	public static Fallback to(Counters local) {
		return new Fallback(local, () -> 1, () -> null);
	}

}
