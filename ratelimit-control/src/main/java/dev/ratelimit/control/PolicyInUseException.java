package dev.ratelimit.control;

import java.util.List;

/**
 * A policy cannot be deleted while something names it. Nothing was changed.
 */
public final class PolicyInUseException extends RuntimeException {

	public PolicyInUseException(String policy, List<String> places) {
		super("Policy '" + policy + "' is used by " + String.join(", ", places) + " and is not in the configuration",
				null, false, false);
	}

}
