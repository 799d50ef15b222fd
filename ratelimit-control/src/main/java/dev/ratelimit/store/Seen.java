package dev.ratelimit.store;

/**
 * The state of the store that a writer has read. A store that has lost it refuses the
 * write.
 *
 * @param storeId empty if the writer has read nothing
 */
public record Seen(String storeId, long revision) {

	public static final Seen NOTHING = new Seen("", 0);

	/** Whether a store of this id and revision has all that was read. */
	public boolean isIn(String storeId, long revision) {
		boolean same = storeId.equals(this.storeId) || StoreId.replaces(storeId, this.storeId);
		return this.storeId.isEmpty() || (same && revision >= this.revision);
	}

	/** The part of the id that stays in the ids of stores that replace this one. */
	public String name() {
		return StoreId.name(this.storeId);
	}

}
