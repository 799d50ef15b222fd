package dev.ratelimit;

import java.util.List;
import java.util.Map;

/**
 * Other quotas for one caller.
 *
 * @param when values that the caller must have, compared exactly
 * @param limits the quotas, by the name of the limit
 */
public record PolicyOverride(Map<Dimension, String> when, Map<String, List<Quota>> limits) {

	public PolicyOverride {
		when = Map.copyOf(when);
		limits = Map.copyOf(limits);
		if (when.isEmpty()) {
			throw new IllegalArgumentException("an override needs a 'when' with at least one dimension");
		}
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "PolicyOverride[when=" + this.when.keySet() + ", limits=" + this.limits + "]";
	}

}
