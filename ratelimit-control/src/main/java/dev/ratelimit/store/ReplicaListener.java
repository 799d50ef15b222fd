package dev.ratelimit.store;

import java.time.Duration;
import java.util.List;

/**
 * Hears what changes in an instance's copy: one call at a time, in the order of
 * revisions, on a thread where it may take its time.
 */
public interface ReplicaListener {

	/**
	 * Records have other versions now.
	 * @param versions each record once
	 */
	void changed(List<RecordVersion> versions);

	/**
	 * A write that was made while this instance was listening has been applied.
	 * @param time since the write, by the clocks of the store and of this instance
	 */
	default void propagated(Duration time) {
	}

	/**
	 * Something about the state has changed, other than the revision.
	 */
	default void stateChanged(ReplicaState state) {
	}

}
