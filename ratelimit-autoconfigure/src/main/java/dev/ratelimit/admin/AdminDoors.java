package dev.ratelimit.admin;

/**
 * What is offered to administrators outside of the actuator endpoint. It follows the
 * endpoint's own setting {@code management.endpoint.ratelimit.access}, so that one
 * setting closes all doors.
 *
 * @param reads whether operations that only read are offered
 * @param writes whether operations that change something are offered
 */
public record AdminDoors(boolean reads, boolean writes) {

	/** The default of the endpoint, also of an application without the actuator. */
	public static final AdminDoors READ_ONLY = new AdminDoors(true, false);

}
