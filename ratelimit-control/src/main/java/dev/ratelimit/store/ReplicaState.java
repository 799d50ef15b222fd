package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Relation of an instance's copy to the store.
 *
 * @param storeId id of the store that was read, empty if none was
 * @param revision last revision that was applied
 * @param lastContact time of the store's last answer, {@code null} if there was none
 * @param origin where the copy comes from
 * @param stale whether the copy may be outdated: no answer for 30 s, an incident, or
 * neither the store nor a snapshot was read
 * @param incident the loss of data, {@code null} if there is none
 */
public record ReplicaState(String storeId, long revision, @Nullable Instant lastContact, Origin origin, boolean stale,
		@Nullable Incident incident) {

	/** Time without contact after which a copy is stale. */
	static final Duration STALE_AFTER = Duration.ofSeconds(30);

	/**
	 * Whether nothing is known of the store: it was not read, and there is no snapshot.
	 */
	public boolean missing() {
		return this.origin == Origin.NOTHING;
	}

	/** Whether everything that the store had was read since the start. */
	public boolean read() {
		return this.origin == Origin.STORE;
	}

	/** Where a copy comes from. */
	public enum Origin {

		NOTHING, SNAPSHOT, STORE

	}

	/**
	 * A loss of data. The copy does not change until an operator decides.
	 */
	public enum Incident {

		/** The store is empty: FLUSHALL, a new disk. */
		EMPTY("the store is empty"),

		/** The store was created anew, is another one, or parts of it are gone. */
		OTHER("the store is another one, or a part of it is gone"),

		/** The store has fewer writes than were read: eviction, an older backup. */
		OLDER("the store has lost the last writes"),

		/** The store has other writes than those that were read. */
		FORKED("the store has other writes than before");

		private final String text;

		Incident(String text) {
			this.text = text;
		}

		public String text() {
			return this.text;
		}

	}

}
