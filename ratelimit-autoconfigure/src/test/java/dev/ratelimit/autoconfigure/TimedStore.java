package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongConsumer;

import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditHead;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;

/**
 * A store in memory whose time is the test's.
 */
public final class TimedStore implements PolicyStore, InstantSource {

	private final List<RecordVersion> written = new ArrayList<>();

	private final List<LongConsumer> subscribers = new CopyOnWriteArrayList<>();

	private final Map<String, String> leaders = new HashMap<>();

	private final Map<String, Instant> terms = new HashMap<>();

	private volatile boolean away;

	private volatile boolean silent;

	private volatile Instant now = Instant.parse("2026-01-01T12:00:00Z");

	@Override
	public Instant instant() {
		return this.now;
	}

	void pass(Duration time) {
		this.now = this.now.plus(time);
	}

	/** The same time for whoever only wants to know how much of it has passed. */
	public long nanos() {
		return Duration.between(Instant.EPOCH, this.now).toNanos();
	}

	/** Writes are kept from now on, but nobody hears of it. */
	void loseAnswers(boolean silent) {
		this.silent = silent;
	}

	void goAway() {
		this.away = true;
	}

	void comeBack() {
		this.away = false;
		this.subscribers.forEach((subscriber) -> subscriber.accept(0));
	}

	void loseEverything() {
		synchronized (this) {
			this.written.clear();
		}
		comeBack();
	}

	@Override
	public synchronized CompletionStage<Changes> changesSince(long revision, int limit) {
		if (this.away) {
			return CompletableFuture.failedStage(new IllegalStateException("away"));
		}
		List<RecordVersion> heads = this.written.stream()
			.filter((version) -> version.revision() > revision && newest(version.key()) == version.version())
			.limit(limit)
			.toList();
		return done(new Changes("timed", this.written.size(), heads));
	}

	@Override
	public CompletionStage<List<RecordVersion>> write(List<Edit> edits, Seen seen, String actor, String reason) {
		if (this.away) {
			return CompletableFuture.failedStage(new IllegalStateException("away"));
		}
		List<RecordVersion> versions = new ArrayList<>();
		synchronized (this) {
			for (Edit edit : edits) {
				long newest = newest(edit.key());
				if (edit.expect() != null && edit.expect() != newest) {
					return CompletableFuture.failedStage(new ConflictException(edit.expect(), newest));
				}
				RecordVersion version = new RecordVersion(edit.key(), newest + 1, this.written.size() + 1L, edit.body(),
						actor, this.now, reason);
				this.written.add(version);
				versions.add(version);
			}
		}
		this.subscribers.forEach((subscriber) -> subscriber.accept(versions.get(versions.size() - 1).revision()));
		return this.silent ? CompletableFuture.failedStage(new IllegalStateException("no answer")) : done(versions);
	}

	@Override
	public CompletionStage<Void> restore(String storeId, long revision, long version, List<RecordVersion> records) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletionStage<Void> forget(List<RecordVersion> deletions, Seen seen) {
		throw new UnsupportedOperationException();
	}

	@Override
	public synchronized CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
		List<RecordVersion> versions = new ArrayList<>();
		this.written.stream()
			.filter((version) -> version.key().equals(key))
			.forEach((version) -> versions.add(0, version));
		return done(versions.subList(0, Math.min(limit, versions.size())));
	}

	@Override
	public CompletionStage<Void> audit(AuditRecord attempt, AuditPosition remove) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletionStage<List<AuditEntry>> audit(AuditPosition before, int limit) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletionStage<List<AuditEntry>> scanAudit(AuditPosition before) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletionStage<AuditHead> auditHead() {
		throw new UnsupportedOperationException();
	}

	/** Fails: an instance then uses its own numbers. */
	@Override
	public CompletionStage<List<Long>> add(String name, List<Long> numbers) {
		return CompletableFuture.failedStage(new UnsupportedOperationException());
	}

	@Override
	public synchronized CompletionStage<Optional<Instant>> lead(String task, String instance, Duration time) {
		if (this.terms.getOrDefault(task, Instant.MIN).isAfter(this.now) && !instance.equals(this.leaders.get(task))) {
			return done(Optional.empty());
		}
		this.leaders.put(task, instance);
		this.terms.put(task, this.now.plus(time));
		return done(Optional.of(this.now));
	}

	@Override
	public AutoCloseable subscribe(LongConsumer listener) {
		this.subscribers.add(listener);
		listener.accept(0);
		return () -> this.subscribers.remove(listener);
	}

	private long newest(RecordKey key) {
		return this.written.stream().filter((version) -> version.key().equals(key)).count();
	}

	private static <T> CompletionStage<T> done(T answer) {
		return CompletableFuture.completedStage(answer);
	}

}
