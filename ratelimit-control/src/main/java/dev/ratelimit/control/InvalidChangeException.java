package dev.ratelimit.control;

/**
 * A change is invalid. Nothing was changed.
 */
public class InvalidChangeException extends RuntimeException {

	private final String field;

	private final String fix;

	/**
	 * @param field such as {@code policy.limits.per-user.quota}
	 * @param problem what is wrong, with the value unless that names a caller
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
		return String.valueOf(super.getMessage());
	}

	public String fix() {
		return this.fix;
	}

}
