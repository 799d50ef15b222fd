package dev.ratelimit.admin;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.json.JsonObject;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.AuditScan;
import dev.ratelimit.store.PolicyStore;

/**
 * The audit trail: in the store, which the fleet shares. The last entries of this
 * instance are shown if there is no store. A change is made even if its entry could not
 * be written, because the audit log has the entry too.
 */
final class AuditTrail implements AutoCloseable {

	private static final int REMEMBERED = 1_000;

	/** Attempts per minute that failed and are kept. */
	private static final int MOST_FAILURES = 100;

	/** Less than a server waits for an answer. */
	private static final Duration VERIFICATION = Duration.ofSeconds(20);

	private final @Nullable PolicyStore store;

	private final @Nullable AuditWriter writer;

	private final Deque<AuditEntry> last = new ArrayDeque<>();

	private long sequence;

	private final Map<Budget, Integer> failures = new EnumMap<>(Budget.class);

	private long minute;

	private final AtomicLong refused = new AtomicLong();

	private @Nullable CompletableFuture<Map<String, Object>> verification;

	/**
	 * Creates a trail that has not started.
	 * @param store {@code null} for none
	 */
	AuditTrail(@Nullable PolicyStore store) {
		this(store, AuditWriter.MAX_WAITING, AuditWriter.MAX_WAIT);
	}

	AuditTrail(@Nullable PolicyStore store, int maxWaiting, Duration maxWait) {
		this.store = store;
		this.writer = (store != null) ? new AuditWriter(store, maxWaiting, maxWait, System::nanoTime) : null;
	}

	void start() {
		if (this.writer != null) {
			this.writer.start();
		}
	}

	@Override
	public void close() {
		if (this.writer != null) {
			this.writer.close();
		}
	}

	/**
	 * Whether there is room for an entry: not if too many attempts failed in this minute.
	 * A caller without the authority must not be able to fill the trail, nor use up the
	 * room of others.
	 */
	boolean admits(AuditRecord attempt) {
		if (attempt.outcome().equals(Audit.Outcome.DONE.text())) {
			return true;
		}
		synchronized (this.last) {
			long minute = attempt.time().getEpochSecond() / 60;
			if (minute != this.minute) {
				this.failures.clear();
			}
			this.minute = minute;
			if (this.failures.merge(Budget.of(attempt.action()), 1, Integer::sum) <= MOST_FAILURES) {
				return true;
			}
		}
		this.refused.incrementAndGet();
		return false;
	}

	/**
	 * Adds an entry.
	 * @param remove position of the newest entry to remove, {@code null} for none
	 * @param claim what names an entry that several instances have, which the store gets
	 * from the first one; {@code null} if only this instance has it
	 */
	void append(AuditRecord attempt, @Nullable AuditPosition remove, @Nullable String claim) {
		synchronized (this.last) {
			if (this.last.size() == REMEMBERED) {
				this.last.removeLast();
			}
			this.last.addFirst(new AuditEntry(new AuditPosition(attempt.time(), ++this.sequence), attempt, null));
			if (this.writer != null) {
				this.writer.add(attempt, remove, claim);
			}
		}
	}

	/** Entries of this instance that the trail does not have and will not get. */
	long lost() {
		return this.refused.get() + ((this.writer != null) ? this.writer.lost() : 0);
	}

	/**
	 * A page of entries, the newest first, and whether the store or this instance has
	 * them.
	 * @param before only entries that are older, {@code null} for no bound
	 */
	CompletionStage<Map<String, Object>> show(@Nullable AuditPosition before, int limit) {
		PolicyStore store = this.store;
		if (store == null || this.writer == null) {
			return CompletableFuture.completedFuture(remembered("There is no store", before, limit));
		}
		return this.writer.written()
			.thenCompose((done) -> store.audit(before, limit))
			.thenApply((entries) -> answer("store", null, entries, limit))
			.exceptionally((failure) -> remembered("The store does not answer", before, limit));
	}

	/**
	 * Checks the chain of the whole trail. Calls at the same time share one check.
	 */
	CompletionStage<Map<String, Object>> verify() {
		PolicyStore store = this.store;
		if (store == null || this.writer == null) {
			throw AdminProblem.unavailable("There is no store, so there is no trail to verify; set "
					+ "ratelimit.policies-store.type to redis or r2dbc");
		}
		synchronized (this.failures) {
			if (this.verification == null || this.verification.isDone()) {
				this.verification = this.writer.written()
					.thenCompose((done) -> new AuditScan(store, System::nanoTime).verify(VERIFICATION))
					.handle((report, failure) -> {
						if (failure != null) {
							throw AdminProblem.unavailable("The store did not answer; the trail was not verified");
						}
						return AuditView.of(report);
					})
					.toCompletableFuture();
			}
			return this.verification;
		}
	}

	private Map<String, Object> remembered(String why, @Nullable AuditPosition before, int limit) {
		synchronized (this.last) {
			List<AuditEntry> entries = this.last.stream()
				.filter((entry) -> before == null || entry.position().compareTo(before) < 0)
				.limit(limit)
				.toList();
			return answer("instance", why + ": these are the last entries of this instance since its start", entries,
					limit);
		}
	}

	private Map<String, Object> answer(String source, @Nullable String note, List<AuditEntry> entries, int limit) {
		int waiting = (this.writer != null) ? this.writer.waiting() : 0;
		return new JsonObject().with("source", source)
			.with("note", note)
			.with("waiting", (waiting > 0) ? waiting : null)
			.with("lost", (lost() > 0) ? lost() : null)
			.with("entries", entries.stream().map(AuditView::of).toList())
			.with("before", (entries.size() == limit) ? entries.get(limit - 1).position().text() : null);
	}

	/**
	 * Callers whose failed attempts are counted together.
	 */
	enum Budget {

		OPERATORS, READERS, TENANTS;

		static Budget of(String action) {
			return action.equals(Audit.READ) ? READERS : action.startsWith(Audit.TENANT) ? TENANTS : OPERATORS;
		}

	}

}
