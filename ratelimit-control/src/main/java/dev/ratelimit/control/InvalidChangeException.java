package dev.ratelimit.control;

/**
 * A change says something that cannot be meant. Nothing was changed.
 */
public final class InvalidChangeException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String field;

	private final String fix;

	/**
	 * Creates it.
	 * @param field where it is, such as {@code policy.limits.per-user.quota}
	 * @param problem what is wrong there, with the value unless that names a caller
	 * @param fix what to do
	 */
	public InvalidChangeException(String field, String problem, String fix) {
		super(problem, null, false, false);
		this.field = field;
		this.fix = fix;
	}

	public String field() {
		return this.field;
	}

	public String problem() {
		return String.valueOf(getMessage());
	}

	public String fix() {
		return this.fix;
	}

}
