package dev.ratelimit.store;

/**
 * The record has another version than the editor has seen. Nothing was written.
 */
public final class ConflictException extends RuntimeException {

	private final long newest;

	public ConflictException(long expected, long newest) {
		super("version " + expected + " was expected but the newest is " + newest);
		this.newest = newest;
	}

	public long newest() {
		return this.newest;
	}

}
