package dev.ratelimit.autoconfigure;

/**
 * A property says something that cannot be meant. Shown by
 * {@link InvalidPolicyFailureAnalyzer}.
 */
public final class InvalidPolicyException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String field;

	private final String problem;

	private final String fix;

	InvalidPolicyException(String problem, String fix) {
		this("", problem, fix);
	}

	/**
	 * Creates it.
	 * @param field where it is, as the fix names it
	 */
	InvalidPolicyException(String field, String problem, String fix) {
		super(problem + " " + fix);
		this.field = field;
		this.problem = problem;
		this.fix = fix;
	}

	/**
	 * Where it is; empty if that is not known.
	 */
	String field() {
		return this.field;
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
