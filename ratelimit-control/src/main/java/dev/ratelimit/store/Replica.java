package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.store.ReplicaState.Incident;

/**
 * An instance's copy of the store. It subscribes first and reads then, so that no write
 * falls in between; asks for what is new when it is told of a write, once however many it
 * was told of, and every 5 s in any case, since what it is told can be lost; and never
 * goes back to a lower revision.
 *
 * <p>
 * A store that has less than was seen, or other things, is an incident: the copy stays as
 * it is until an operator decides by {@link #reseed} or {@link #accept} on one instance.
 * The others learn of the decision from the store's id.
 */
public final class Replica implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Replica.class);

	private static final int PAGE = 250;

	private static final long POLL_MILLIS = 5_000;

	private static final long RETRY_MILLIS = 1_000;

	private static final long GOODBYE_MILLIS = 1_000;

	private final PolicyStore store;

	private final StoreReader reader;

	private final ReplicaListener listener;

	private final Map<RecordKey, RecordVersion> records = new ConcurrentHashMap<>();

	private final Semaphore wanted = new Semaphore(0);

	private final PendingDecisions decisions = new PendingDecisions();

	private final Thread thread = new Thread(this::run, "ratelimit-replica");

	private volatile String storeId;

	private volatile long revision;

	private volatile @Nullable Incident incident;

	private volatile boolean closed;

	private boolean toldStale;

	/** Whether what is new now was written while this instance was listening. */
	private boolean following;

	/**
	 * A copy that begins with what is known from before.
	 * @param store what to follow
	 * @param start what this instance knew when it was stopped
	 * @param listener is told of the start at once, on the calling thread
	 */
	public Replica(PolicyStore store, Snapshot start, ReplicaListener listener) {
		this(store, start, listener, System::nanoTime);
	}

	/**
	 * The same by another clock.
	 * @param nanos a monotonic clock: for how long the store has been silent
	 */
	public Replica(PolicyStore store, Snapshot start, ReplicaListener listener, LongSupplier nanos) {
		this.store = store;
		this.reader = new StoreReader(store, nanos);
		this.listener = listener;
		this.storeId = start.storeId();
		this.revision = start.revision();
		start.records().forEach((record) -> this.records.put(record.key(), record));
		if (!start.records().isEmpty()) {
			listener.changed(start.records());
		}
		this.thread.setDaemon(true);
	}

	/**
	 * Follows the store from now on.
	 */
	public void start() {
		this.thread.start();
	}

	@Override
	public void close() {
		this.closed = true;
		this.decisions.close();
		this.wanted.release();
		try {
			this.thread.join(GOODBYE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	public ReplicaState state() {
		boolean silent = this.reader.silentNanos() > ReplicaState.PATIENCE.toNanos();
		Incident incident = this.incident;
		return new ReplicaState(this.storeId, this.revision, this.reader.lastContact(), silent || incident != null,
				incident);
	}

	/** The newest version that this instance knows, which may be a deletion. */
	public @Nullable RecordVersion get(RecordKey key) {
		return this.records.get(key);
	}

	/**
	 * What to keep for a restart. Records may be newer than the revision, which does no
	 * harm: they are read once more.
	 * @param instances how many the fleet has
	 */
	public Snapshot snapshot(int instances) {
		String storeId = this.storeId;
		long revision = this.revision;
		return new Snapshot(storeId, revision, instances, List.copyOf(this.records.values()));
	}

	/**
	 * Ends an incident by giving the store all that this instance has. What the store has
	 * besides stays. Fails if there is no incident, the store is away or this replica is
	 * closed; then it can be done again.
	 */
	public CompletionStage<Void> reseed(String actor, String reason) {
		return decide((recovery) -> recovery.write(this.records.values(), actor, reason));
	}

	/**
	 * Ends an incident by taking what the store has. What this instance has besides is
	 * deleted.
	 */
	public CompletionStage<Void> accept(String actor, String reason) {
		return decide((recovery) -> recovery.write(Recovery.accepted(this.reader.all(PAGE).records(), this.records),
				actor, reason));
	}

	/** On the thread that follows the store, so that neither sees half of the other. */
	private CompletionStage<Void> decide(Consumer<Recovery> decision) {
		CompletionStage<Void> done = this.decisions.add(() -> {
			synchronize();
			if (this.incident == null) {
				throw new IllegalStateException("the store has lost nothing: there is nothing to decide");
			}
			decision.accept(new Recovery(this.reader, this.storeId, this.revision));
			synchronize();
		});
		this.wanted.release();
		return done;
	}

	private void run() {
		try (AutoCloseable subscription = this.store.subscribe(this::told)) {
			logger.debug("Subscribed by {}", subscription);
			long pause = 0;
			while (awaitWanted(pause)) {
				pause = round();
			}
		}
		catch (Exception ex) {
			logger.error("Policies are not followed any more; restart this instance", ex);
		}
		finally {
			this.decisions.close();
		}
	}

	private void told(long revision) {
		if (revision == 0 || revision > this.revision) {
			this.wanted.release();
		}
	}

	/** Returns how long to wait for the next one, unless told. */
	private long round() {
		try {
			this.decisions.runAll();
			synchronize();
			return ThreadLocalRandom.current().nextLong(4 * POLL_MILLIS / 5, 6 * POLL_MILLIS / 5);
		}
		catch (RuntimeException ex) {
			logger.debug("The store of policies cannot be read", ex);
			return ThreadLocalRandom.current().nextLong(RETRY_MILLIS / 2, RETRY_MILLIS);
		}
		finally {
			tellStale();
		}
	}

	/** Reads all that is new, unless the store is not what it was. */
	private void synchronize() {
		Changes page;
		do {
			// The last one that was seen comes again: it must be the same.
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
			// Once seen, an incident ends by a decision only.
			if (this.incident != null) {
				return;
			}
			follow(page);
		}
		while (this.revision < page.revision());
		this.following = true;
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
			.allMatch((version) -> version.equals(this.records.get(version.key())));
		return same ? null : Incident.FORKED;
	}

	private void follow(Changes page) {
		List<RecordVersion> versions = page.versions()
			.stream()
			.filter((version) -> version.revision() > this.revision)
			.toList();
		versions.forEach((version) -> this.records.put(version.key(), version));
		tell(versions);
		// Without more of them, what is left is of kinds that are not known here.
		this.revision = versions.isEmpty() ? page.revision() : versions.get(versions.size() - 1).revision();
		if (this.following) {
			Instant now = Instant.now();
			versions.forEach((version) -> guarded(() -> this.listener.propagated(between(version.time(), now))));
		}
	}

	private void takeAll() {
		StoreReader.Contents all = this.reader.all(PAGE);
		if (all.revision() < this.revision) {
			begin(Incident.OLDER);
			return;
		}
		List<RecordVersion> changed = new ArrayList<>();
		all.records().forEach((key, version) -> {
			if (!version.equals(this.records.get(key))) {
				changed.add(version);
			}
		});
		this.records.forEach((key, version) -> {
			if (!all.records().containsKey(key)) {
				changed.add(Recovery.deleted(version));
			}
		});
		changed.forEach((version) -> this.records.put(version.key(), version));
		tell(changed);
		this.storeId = all.storeId();
		this.revision = all.revision();
		boolean over = this.incident != null;
		this.incident = null;
		if (over) {
			logger.info("The store of policies was set right; this instance follows it again");
		}
		this.following = true;
	}

	/** A store that is being set right passes through others; one line is enough. */
	private void begin(Incident found) {
		if (this.incident == null) {
			logger.warn("The store of policies is not what it was: {}. The last known policies stay in force and "
					+ "nothing is read until an operator lets one instance reseed the store or accept what it has",
					found.text());
		}
		this.incident = found;
	}

	private void tellStale() {
		boolean stale = state().stale();
		if (stale != this.toldStale) {
			this.toldStale = stale;
			if (stale && this.incident == null) {
				logger.warn("The store of policies has not answered for {} s; the last known policies stay in force",
						ReplicaState.PATIENCE.toSeconds());
			}
			guarded(() -> this.listener.stateChanged(state()));
		}
	}

	private void tell(List<RecordVersion> versions) {
		if (!versions.isEmpty()) {
			guarded(() -> this.listener.changed(versions));
		}
	}

	private void guarded(Runnable call) {
		try {
			call.run();
		}
		catch (RuntimeException ex) {
			logger.warn("Policies that have changed could not all be applied", ex);
		}
	}

	private boolean awaitWanted(long millis) throws InterruptedException {
		if (this.wanted.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
			this.wanted.drainPermits();
		}
		return !this.closed;
	}

	/** Clocks differ; a write is not applied before it was made. */
	private static Duration between(Instant written, Instant now) {
		return written.isBefore(now) ? Duration.between(written, now) : Duration.ZERO;
	}

}
