package dev.ratelimit.autoconfigure;

/**
 * A property says something that cannot be meant. Shown by
 * {@link InvalidPolicyFailureAnalyzer}.
 */
public final class InvalidPolicyException extends RuntimeException {

	private final String problem;

	private final String fix;

	InvalidPolicyException(String problem, String fix) {
		super(problem + " " + fix);
		this.problem = problem;
		this.fix = fix;
	}

	/**
	 * What is wrong, where, and the value.
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * What to do.
	 */
	public String fix() {
		return this.fix;
	}

}
