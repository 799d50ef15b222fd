package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
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

	/**
	 * After a burst of deletions an instance that is still reading them must not have to
	 * read everything.
	 */
	private static final Duration READ_BY_ALL = Duration.ofMinutes(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final PolicyStore store;

	private final Replica replica;

	private final String instance;

	private final InstantSource clock;

	private final int most;

	private final Loop loop = new Loop("ratelimit-deletion-trim", this::turn);

	public DeletionTrimmer(PolicyStore store, Replica replica, String instance) {
		this(store, replica, instance, InstantSource.system(), PolicyStore.KEPT_DELETIONS);
	}

	DeletionTrimmer(PolicyStore store, Replica replica, String instance, InstantSource clock, int most) {
		this.store = store;
		this.replica = replica;
		this.instance = instance;
		this.clock = clock;
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
			if (state.read() && !state.stale()
					&& Futures.await(this.store.lead(TASK, this.instance, LEAD), TIMEOUT).isPresent()) {
				trim();
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

	void trim() {
		// Versions above the revision of the copy may not be all that the store has.
		Snapshot copy = this.replica.snapshot(0);
		List<RecordVersion> deletions = copy.records()
			.stream()
			.filter((version) -> version.deleted() && version.revision() <= copy.revision())
			.sorted(Comparator.comparingLong(RecordVersion::revision))
			.toList();
		int end = end(deletions);
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
	private int end(List<RecordVersion> deletions) {
		Instant now = this.clock.instant();
		int end = 0;
		while (end < deletions.size()) {
			Duration kept = (end < deletions.size() - this.most) ? READ_BY_ALL : PolicyStore.KEPT_DELETIONS_FOR;
			if (deletions.get(end).time().isAfter(now.minus(kept))) {
				break;
			}
			end++;
		}
		return end;
	}

}
