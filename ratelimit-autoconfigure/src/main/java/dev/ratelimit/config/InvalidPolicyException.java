package dev.ratelimit.config;

import dev.ratelimit.control.InvalidChangeException;

/**
 * A property of a policy, a list or a route is invalid. Shown by
 * {@link InvalidPolicyFailureAnalyzer} if it comes from the configuration.
 */
public final class InvalidPolicyException extends InvalidChangeException {

	public InvalidPolicyException(String problem, String fix) {
		this("", problem, fix);
	}

	/**
	 * @param field the property, as the fix names it; empty if it is not known
	 * @param problem what is wrong: the property and its value
	 * @param fix what to do
	 */
	public InvalidPolicyException(String field, String problem, String fix) {
		super(field, problem, fix);
	}

	@Override
	public String getMessage() {
		return problem() + " " + fix();
	}

}
