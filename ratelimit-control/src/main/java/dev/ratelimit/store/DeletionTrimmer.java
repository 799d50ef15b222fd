package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Loop;

/**
 * Keeps the number and the age of deleted records in the store within bounds: once an
 * hour, on one instance, in steps of {@link PolicyStore#MAX_EDITS}, one after the other.
 * It removes the oldest first, as {@link Forgotten} demands, and knows them from the copy
 * of this instance. So a store needs no index of its deletions, and it does not matter
 * which release wrote them.
 */
public final class DeletionTrimmer implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DeletionTrimmer.class);

	private static final String TASK = "deletion-trim";

	private static final Duration FIRST = Duration.ofMinutes(1);

	private static final Duration EVERY = Duration.ofHours(1);

	/** Shorter than the pause: each hour any instance can lead. */
	private static final Duration LEAD = Duration.ofMinutes(55);

	/** Of those above the bound: an instance may be away, or of an earlier release. */
	private static final Duration KEPT_ABOVE = Duration.ofDays(1);

	/** Above ten times the bound: time to read them, so that nobody reads everything. */
	private static final Duration KEPT_FAR_ABOVE = Duration.ofMinutes(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final PolicyStore store;

	private final Replica replica;

	private final String instance;

	private final int most;

	private final Loop loop = new Loop("ratelimit-deletion-trim", this::turn);

	public DeletionTrimmer(PolicyStore store, Replica replica, String instance) {
		this(store, replica, instance, PolicyStore.KEPT_DELETIONS);
	}

	DeletionTrimmer(PolicyStore store, Replica replica, String instance, int most) {
		this.store = store;
		this.replica = replica;
		this.instance = instance;
		this.most = most;
	}

	public void start() {
		this.loop.start(FIRST);
	}

	@Override
	public void close() {
		this.loop.end(Duration.ZERO);
	}

	private Duration turn() {
		ReplicaState state = this.replica.state();
		try {
			if (state.read() && !state.stale()) {
				Futures.await(this.store.lead(TASK, this.instance, LEAD), TIMEOUT).ifPresent(this::trim);
			}
		}
		catch (CompletionException ex) {
			// Interrupted: this instance ends, and another one goes on.
			if (!Thread.currentThread().isInterrupted()) {
				logger.warn(
						"Old deleted records were not removed from the policy store ({}); the next try is in an hour",
						Futures.cause(ex).toString());
			}
		}
		return EVERY;
	}

	/**
	 * Removes them.
	 * @param now by the clock that gives versions their time
	 */
	void trim(Instant now) {
		// Versions above the revision of the copy may not be all that the store has.
		Snapshot copy = this.replica.snapshot(0);
		List<RecordVersion> deletions = copy.records()
			.stream()
			.filter((version) -> version.deleted() && version.revision() <= copy.revision())
			.toList();
		int end = end(deletions, now);
		for (int i = 0; i < end; i += PolicyStore.MAX_EDITS) {
			Futures.await(this.store.forget(deletions.subList(i, Math.min(i + PolicyStore.MAX_EDITS, end)),
					new Seen(copy.storeId(), copy.revision())), TIMEOUT);
		}
		if (end > 0) {
			logger.info("Removed {} deleted records from the policy store: older than {} days or more than {}", end,
					PolicyStore.KEPT_DELETIONS_FOR.toDays(), this.most);
		}
	}

	/** A younger deletion ends it, even if older ones follow: revisions are the order. */
	private int end(List<RecordVersion> deletions, Instant now) {
		int end = 0;
		while (end < deletions.size() && isOver(deletions.get(end).time(), deletions.size() - end, now)) {
			end++;
		}
		return end;
	}

	/**
	 * Whether a deletion is no longer kept.
	 * @param place 1 for the newest
	 */
	private boolean isOver(Instant time, int place, Instant now) {
		if (place <= this.most) {
			return !time.isAfter(now.minus(PolicyStore.KEPT_DELETIONS_FOR));
		}
		Duration kept = (place <= 10L * this.most) ? KEPT_ABOVE : KEPT_FAR_ABOVE;
		// A time of the future, as by a wrong clock, must not suspend the bound.
		return time.isAfter(now) || !time.isAfter(now.minus(kept));
	}

}
