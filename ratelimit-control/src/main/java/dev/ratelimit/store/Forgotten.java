package dev.ratelimit.store;

/**
 * The deleted records that a store no longer has.
 *
 * <p>
 * <b>The invariant.</b> A store has every deletion above {@link #revision}, and none up
 * to it. So a reader that has read at least this revision has seen all deletions, and
 * drops those up to it from its copy. A reader of a lower revision may have missed one
 * for ever: it reads all records, and what the store does not have is deleted. A new
 * record begins above {@link #version}, so a record that is created again never gets a
 * number twice, although its history is gone; one number for all records suffices.
 *
 * <p>
 * <b>How it fails.</b> A store that forgets while an instance reads all of it makes that
 * instance begin again. If the store loses data, an instance that reseeds it hands over
 * the version that it knows. A store that comes back from an older backup has records
 * again whose deletion was forgotten: a reseed deletes those that the instance must have
 * seen. An instance of an earlier release keeps a record whose deletion was forgotten
 * while it was away, and numbers the new records that it writes from 1.
 *
 * @param revision highest revision of a forgotten deletion, 0 if there is none
 * @param version highest version of a forgotten deletion
 */
public record Forgotten(long revision, long version) {

	public static final Forgotten NONE = new Forgotten(0, 0);

}
