package dev.ratelimit.admin;

import java.io.IOException;

/**
 * The body of a call is larger than any that can be meant. What comes after the bound is
 * not read.
 */
public final class BodyTooLargeException extends IOException {

	static final int MOST_BYTES = 256 * 1024;

	private static final long serialVersionUID = 1L;

	BodyTooLargeException() {
		super("the body has more than " + MOST_BYTES + " bytes");
	}

}
