package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * How an instance's copy stands to the store.
 *
 * @param storeId of the store it was read from, empty if none was
 * @param revision up to which it has been applied
 * @param lastContact when the store has answered last, {@code null} if never
 * @param stale whether the copy may be older than it should be: the store is silent for
 * 30 s, or there is an incident
 * @param incident what is wrong with the store, {@code null} if nothing is
 */
public record ReplicaState(String storeId, long revision, @Nullable Instant lastContact, boolean stale,
		@Nullable Incident incident) {

	/** Without contact for so long, a copy is stale. */
	static final Duration PATIENCE = Duration.ofSeconds(30);

	/**
	 * What a store may have lost. The copy stays as it is until an operator decides.
	 */
	public enum Incident {

		/** The store has nothing, though it had something: FLUSHALL, a new disk. */
		EMPTY("it is empty"),

		/** The store was made anew since, is another one, or parts of it are gone. */
		OTHER("it is another one, or a part of it is gone"),

		/** The store has fewer writes than were seen: eviction, an older backup. */
		OLDER("it has lost the last writes"),

		/** The store has other writes than those that were seen. */
		FORKED("it has other writes than before");

		private final String text;

		Incident(String text) {
			this.text = text;
		}

		public String text() {
			return this.text;
		}

	}

}
