package dev.ratelimit.app.demo;

/**
 * The demo was switched on where real tokens are verified.
 */
class DemoConflictException extends RuntimeException {

	DemoConflictException(String cause) {
		super("Profile 'demo' accepts tokens signed with a published key, but real tokens are configured as well: "
				+ cause + ".");
	}

}
