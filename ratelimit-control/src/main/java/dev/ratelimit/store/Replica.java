package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Listeners;
import dev.ratelimit.background.Loop;
import dev.ratelimit.store.ReplicaState.Incident;
import dev.ratelimit.store.ReplicaState.Origin;

/**
 * An instance's copy of the store. It subscribes before it reads, so that it misses no
 * write. It reads what is new after notifications, once for all that came, and every 5 s,
 * since notifications can be lost. It never goes back to a lower revision.
 *
 * <p>
 * A store that has fewer or other records than this instance has read is an incident: the
 * copy stays until an operator decides by {@link #reseed} or {@link #accept} on one
 * instance. The other instances learn of the decision from the store's id.
 */
public final class Replica implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Replica.class);

	static final int PAGE = 250;

	private static final long POLL_MILLIS = 5_000;

	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

	private final PolicyStore store;

	private final StoreReader reader;

	private final ReplicaListener listener;

	private final RecordCopy copy;

	private final PendingDecisions decisions = new PendingDecisions();

	private final Loop loop = new Loop("ratelimit-replica", this::follow, this::unsubscribe,
			new FailureLog(logger, "The policy store cannot be read ({})", "The policy store can be read again")
				.quiet());

	private @Nullable AutoCloseable subscription;

	private volatile String storeId;

	private volatile long revision;

	private volatile @Nullable Incident incident;

	private final CountDownLatch judged = new CountDownLatch(1);

	private boolean reportedStale;

	/** From the store on, new versions are written while this instance is subscribed. */
	private volatile Origin origin;

	/**
	 * Creates a copy that begins with a snapshot.
	 * @param listener gets the snapshot at once, on the calling thread
	 * @param nanos a monotonic clock, for the time since the store last answered
	 */
	public Replica(PolicyStore store, Snapshot start, ReplicaListener listener, LongSupplier nanos) {
		this.store = store;
		this.reader = new StoreReader(store, nanos);
		this.listener = listener;
		this.storeId = start.storeId();
		this.revision = start.revision();
		this.origin = start.equals(Snapshot.NONE) ? Origin.NOTHING : Origin.SNAPSHOT;
		this.copy = new RecordCopy(start);
		if (!start.records().isEmpty()) {
			listener.changed(this.copy.all());
		}
	}

	public void start() {
		this.loop.start();
	}

	@Override
	public void close() {
		this.decisions.close();
		this.judged.countDown();
		// Without an interrupt: a recovery under way would leave half of a store.
		this.loop.stop(CLOSE_TIMEOUT);
	}

	public ReplicaState state() {
		Incident incident = this.incident;
		Origin origin = this.origin;
		return new ReplicaState(this.storeId, this.revision, this.reader.lastContact(), origin,
				isSilent() || incident != null || origin == Origin.NOTHING, incident);
	}

	/**
	 * Waits until everything that the store has was read once, its loss was found, or
	 * this replica is closed.
	 * @return whether one of these is so
	 */
	public boolean await(Duration atMost) throws InterruptedException {
		return this.judged.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
	}

	/** Time since the store sent something new, or since the start. */
	public Duration stalled() {
		return Duration.ofNanos(this.reader.stalledNanos());
	}

	/** Highest revision that was received, which may not be in force yet. */
	public long received() {
		return this.reader.reached();
	}

	private boolean isSilent() {
		return this.reader.silentNanos() > ReplicaState.STALE_AFTER.toNanos();
	}

	/** What this instance has read. */
	public Seen seen() {
		return new Seen(this.storeId, this.revision);
	}

	/**
	 * The newest version that this instance knows, which may be a deletion, unless the
	 * store has {@linkplain Forgotten forgotten} it.
	 */
	public @Nullable RecordVersion get(RecordKey key) {
		return this.copy.get(key);
	}

	/**
	 * Snapshot for a restart. Records may be newer than its revision: they are read again
	 * then.
	 * @param instances size of the fleet
	 */
	public Snapshot snapshot(int instances) {
		String storeId = this.storeId;
		long revision = this.revision;
		Forgotten forgotten = this.copy.forgotten();
		return new Snapshot(storeId, revision, instances, this.copy.all(), forgotten);
	}

	/**
	 * Ends an incident by writing all records of this instance to the store, with their
	 * versions, actors, times and reasons; other records of the store stay, without those
	 * of an older backup whose deletion this instance has forgotten. Fails with a
	 * {@link ConfirmationException} if these are another number of records. Fails too if
	 * there is no incident, the store does not answer or this replica is closed, and can
	 * be repeated then.
	 * @param confirmed how many records may be deleted, {@code null} for none
	 */
	public CompletionStage<Void> reseed(@Nullable Long confirmed, String actor, String reason) {
		return decide(Recovery::reseed, confirmed, actor, reason);
	}

	/**
	 * Ends an incident by accepting the records of the store; other records of this
	 * instance are deleted. Fails with a {@link ConfirmationException} if that is another
	 * number of records.
	 * @param confirmed how many records may be deleted, {@code null} for none
	 */
	public CompletionStage<Void> accept(@Nullable Long confirmed, String actor, String reason) {
		return decide(Recovery::accept, confirmed, actor, reason);
	}

	/** Runs on the replica's thread, so that no read sees half of a recovery. */
	private CompletionStage<Void> decide(Consumer<Recovery> decision, @Nullable Long confirmed, String actor,
			String reason) {
		CompletionStage<Void> done = this.decisions.add(() -> {
			synchronize();
			if (this.incident == null) {
				throw new StoreIncidentException("the store has lost nothing: there is nothing to decide");
			}
			decision.accept(new Recovery(this.reader, seen(), this.copy, confirmed, actor, reason));
			synchronize();
		});
		this.loop.wake();
		return done;
	}

	/** Revision 0: writes may have been missed. */
	private void written(long revision) {
		if (revision == 0 || revision > this.revision) {
			this.loop.wake();
		}
	}

	private Duration follow() {
		try {
			subscribe();
			this.decisions.runAll();
			synchronize();
			return Duration.ofMillis(ThreadLocalRandom.current().nextLong(4 * POLL_MILLIS / 5, 6 * POLL_MILLIS / 5));
		}
		finally {
			reportStale();
		}
	}

	/** An operator must not wait for a store that cannot be subscribed to. */
	private void subscribe() {
		try {
			if (this.subscription == null) {
				this.subscription = this.store.subscribe(this::written);
			}
		}
		catch (RuntimeException ex) {
			this.decisions.refuseAll();
			throw ex;
		}
	}

	private void unsubscribe() throws Exception {
		this.decisions.close();
		if (this.subscription != null) {
			this.subscription.close();
		}
	}

	/** Reads all new versions, unless there is an incident. */
	private void synchronize() {
		Changes page;
		do {
			// Reads the last known version again: it must be the same.
			page = this.reader.changesSince(Math.max(0, this.revision - 1), PAGE);
			Incident found = incident(page);
			if (StoreId.replaces(page.storeId(), this.storeId)
					|| (this.storeId.isEmpty() && !page.storeId().isEmpty())) {
				takeAll();
				return;
			}
			if (found != null) {
				begin(found);
			}
			// Only an operator's decision ends an incident.
			if (this.incident != null) {
				return;
			}
			if (page.forgotten().revision() > this.revision) {
				logger.info("The policy store no longer has all deletions since revision {}; reading all records",
						this.revision);
				takeAll();
				return;
			}
			this.copy.forget(page.forgotten());
			apply(page);
		}
		while (this.revision < page.revision());
		read();
	}

	private void read() {
		this.origin = Origin.STORE;
		this.judged.countDown();
	}

	private @Nullable Incident incident(Changes page) {
		if (!page.storeId().equals(this.storeId)) {
			return page.storeId().isEmpty() ? Incident.EMPTY : Incident.OTHER;
		}
		if (page.revision() < this.revision) {
			return Incident.OLDER;
		}
		boolean same = page.versions()
			.stream()
			.filter((version) -> version.revision() == this.revision)
			.allMatch((version) -> version.equals(this.copy.get(version.key())));
		return same ? null : Incident.FORKED;
	}

	private void apply(Changes page) {
		List<RecordVersion> versions = page.versions()
			.stream()
			.filter((version) -> version.revision() > this.revision)
			.toList();
		this.copy.put(versions);
		report(versions);
		this.revision = versions.isEmpty() ? page.revision() : versions.get(versions.size() - 1).revision();
		if (this.origin == Origin.STORE) {
			Instant now = Instant.now();
			// Not negative: the clocks of the store and of this instance differ.
			versions.stream()
				.map((version) -> Duration.between(version.time().isBefore(now) ? version.time() : now, now))
				.forEach((time) -> Listeners.call(this.listener, (listener) -> listener.propagated(time)));
		}
	}

	private void takeAll() {
		StoreReader.Contents all = this.reader.all(PAGE);
		if (all.revision() < this.revision) {
			begin(Incident.OLDER);
			return;
		}
		report(this.copy.replace(all));
		this.storeId = all.storeId();
		this.revision = all.revision();
		if (this.incident != null) {
			this.incident = null;
			logger.info("The policy store was recovered; this instance follows it again");
		}
		read();
	}

	/** Logs once: a store that is being recovered passes through several incidents. */
	private void begin(Incident found) {
		if (this.incident == null) {
			logger.warn(
					"The policy store held revision {} before, but now {}. Keeping the last known policies; let one "
							+ "instance 'reseed' the store or 'accept' what it has (docs/control-plane.md)",
					this.revision, found.text());
		}
		this.incident = found;
		this.judged.countDown();
	}

	private void reportStale() {
		boolean stale = state().stale();
		if (stale != this.reportedStale) {
			this.reportedStale = stale;
			if (isSilent() && this.incident == null) {
				logger.warn("The policy store has not answered for {} s; the last known policies stay in force",
						ReplicaState.STALE_AFTER.toSeconds());
			}
			Listeners.call(this.listener, (listener) -> listener.stateChanged(state()));
		}
	}

	private void report(List<RecordVersion> versions) {
		if (!versions.isEmpty()) {
			Listeners.call(this.listener, (listener) -> listener.changed(versions));
		}
	}

}
