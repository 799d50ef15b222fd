package dev.ratelimit.fleet;

import org.jspecify.annotations.Nullable;

/**
 * Receives the state of the fleet with each heartbeat of this instance.
 */
public interface HeartbeatListener {

	/**
	 * Redis has answered a heartbeat.
	 * @param instances number of instances that are alive, including this one
	 * @param complete whether these are all live instances; {@code false} for a while
	 * after Redis did not know this instance, because Redis may have lost others too
	 * @param recorded whether Redis has a record of the switch, on or off
	 * @param forced the setting of the switch, {@code null} if it is off
	 */
	void heartbeat(int instances, boolean complete, boolean recorded, @Nullable ForcedMode forced);

}
