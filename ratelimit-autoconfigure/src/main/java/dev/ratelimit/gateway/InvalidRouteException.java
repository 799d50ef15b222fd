package dev.ratelimit.gateway;

/**
 * A route says something about its limits that cannot be meant.
 */
public final class InvalidRouteException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String fix;

	InvalidRouteException(String problem, String fix) {
		super(problem + " " + fix);
		this.problem = problem;
		this.fix = fix;
	}

	/**
	 * What is wrong: where, which field, and its value.
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
