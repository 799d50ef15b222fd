package dev.ratelimit.store;

import java.time.Duration;
import java.util.List;

/**
 * Is called when an instance's copy changes: one call at a time, in the order of
 * revisions, on a background thread.
 */
public interface ReplicaListener {

	/**
	 * Records have new versions.
	 * @param versions each record once
	 */
	void changed(List<RecordVersion> versions);

	/**
	 * A write was applied.
	 * @param time since the write, by the clocks of the store and of this instance
	 */
	default void propagated(Duration time) {
	}

	/**
	 * The state has changed, other than its revision.
	 */
	default void stateChanged(ReplicaState state) {
	}

}
