package dev.ratelimit.testing;

import io.lettuce.core.cluster.SlotHash;

/**
 * The move of one slot from its primary to another, as
 * {@code redis-cli --cluster reshard} does it, in steps that a test can stop at. Between
 * {@link #begin()} and {@link #finish()} the old primary answers {@code ASK} for keys
 * that it does not have, and both answer {@code TRYAGAIN} to a script whose keys they
 * have only in part.
 */
public final class Resharding {

	private static final String TIMEOUT_MILLIS = "5000";

	private final RedisCluster cluster;

	private final String key;

	private final String slot;

	private final RedisServer from;

	private final RedisServer to;

	Resharding(RedisCluster cluster, String key, RedisServer from, RedisServer to) {
		if (from == to) {
			throw new IllegalArgumentException(to + " owns the slot already");
		}
		this.cluster = cluster;
		this.key = key;
		this.slot = String.valueOf(SlotHash.getSlot(key));
		this.from = from;
		this.to = to;
	}

	public Resharding begin() {
		setSlot(this.to, "IMPORTING", id(this.from));
		setSlot(this.from, "MIGRATING", id(this.to));
		return this;
	}

	/** Moves a key of the test's choice. */
	public void move(String key) {
		this.from.cli("MIGRATE", this.to.host(), String.valueOf(this.to.port()), key, "0", TIMEOUT_MILLIS);
	}

	/**
	 * Moves any key.
	 * @return whether there was one
	 */
	public boolean moveOneKey() {
		String next = this.from.cli("CLUSTER", "GETKEYSINSLOT", this.slot, "1");
		if (next.isEmpty()) {
			return false;
		}
		move(next);
		return true;
	}

	/** Moves what is there; under load more may come until {@link #finish()}. */
	public Resharding moveAll() {
		boolean moved = true;
		while (moved) {
			moved = moveOneKey();
		}
		return this;
	}

	/** Gives the slot to its new primary and waits until every node knows. */
	public void finish() {
		String owner = id(this.to);
		// The new one first: whoever is sent there must not be sent back.
		setSlot(this.to, "NODE", owner);
		setSlot(this.from, "NODE", owner);
		this.cluster.primaries().forEach((primary) -> setSlot(primary, "NODE", owner));
		this.cluster.awaitPrimaryOf(this.key, this.to);
	}

	private void setSlot(RedisServer server, String state, String node) {
		server.cli("CLUSTER", "SETSLOT", this.slot, state, node);
	}

	private static String id(RedisServer server) {
		return server.cli("CLUSTER", "MYID");
	}

}
