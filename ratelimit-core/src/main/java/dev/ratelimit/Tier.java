package dev.ratelimit;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Changes for the callers of one plan.
 *
 * @param limits other quotas, by the name of the limit
 * @param onFailure another failure mode, {@code null} for the policy's
 */
public record Tier(Map<String, List<Quota>> limits, @Nullable FailureMode onFailure) {

	public Tier {
		limits = Map.copyOf(limits);
	}

}
