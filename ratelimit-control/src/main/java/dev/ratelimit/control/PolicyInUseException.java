package dev.ratelimit.control;

import java.util.List;

/**
 * A policy cannot be deleted as something names it that would have none then. Nothing was
 * changed.
 */
public final class PolicyInUseException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public PolicyInUseException(String policy, List<String> places) {
		super("Policy '" + policy + "' is used by " + String.join(", ", places)
				+ " and is not in the configuration, so nothing would be left of it", null, false, false);
	}

}
