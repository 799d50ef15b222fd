package dev.ratelimit.store;

/**
 * The store has lost data that the writer has read. Nothing was written.
 */
public final class StoreLostException extends RuntimeException {

	public StoreLostException() {
		super("The policy store has lost data, so nothing was written. Let one instance 'reseed' it or 'accept' what it "
				+ "has first", null, false, false);
	}

}
