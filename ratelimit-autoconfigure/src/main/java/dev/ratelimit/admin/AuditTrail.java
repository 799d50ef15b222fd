package dev.ratelimit.admin;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.PolicyStore;

/**
 * The audit trail that can be asked for: the store's, which the fleet shares and nothing
 * is ever taken from, and the last entries of this instance for when there is none. A
 * change is made whether or not its entry could be added: the audit log has it anyway.
 */
public final class AuditTrail {

	static final int REMEMBERED = 1_000;

	/** Of attempts that were not done, in a minute. */
	static final int MOST_FAILURES = 100;

	private static final Logger logger = LoggerFactory.getLogger(AuditTrail.class);

	private final Supplier<@Nullable PolicyStore> store;

	private final Deque<AuditRecord> last = new ArrayDeque<>();

	private long sequence;

	private final Map<Budget, Integer> failures = new EnumMap<>(Budget.class);

	private long minute;

	private final AtomicBoolean failing = new AtomicBoolean();

	private final AtomicLong lost = new AtomicLong();

	/**
	 * Creates a trail.
	 * @param store asked with every entry, {@code null} if there is none
	 */
	public AuditTrail(Supplier<@Nullable PolicyStore> store) {
		this.store = store;
	}

	/**
	 * Adds an entry, if there is room for it.
	 */
	boolean append(AuditRecord entry) {
		if (!entry.outcome().equals(Audit.Outcome.DONE.text()) && !hasRoomForAFailure(entry)) {
			this.lost.incrementAndGet();
			return false;
		}
		synchronized (this.last) {
			if (this.last.size() == REMEMBERED) {
				this.last.removeLast();
			}
			this.last.addFirst(entry.at(++this.sequence));
		}
		PolicyStore store = this.store.get();
		if (store != null) {
			store.audit(entry).whenComplete((done, failure) -> appended(failure));
		}
		return true;
	}

	/**
	 * Entries, the newest first, and where they are from.
	 * @param before only what is older, {@code null} for no bound
	 */
	public CompletionStage<Map<String, Object>> show(@Nullable AuditPosition before, int limit) {
		PolicyStore store = this.store.get();
		if (store == null) {
			return CompletableFuture.completedFuture(
					answer("instance", "There is no store: these are the last of this instance since it was started",
							remembered(before, limit), limit));
		}
		return store.audit(before, limit)
			.thenApply((entries) -> answer("store", null, entries, limit))
			.exceptionally((failure) -> answer("instance",
					"The store does not answer: these are the last of this instance since it was started",
					remembered(before, limit), limit));
	}

	/**
	 * Who may not change anything must not fill what nothing is ever taken from, nor use
	 * up what there is for others.
	 */
	private boolean hasRoomForAFailure(AuditRecord entry) {
		synchronized (this.last) {
			long minute = entry.time().getEpochSecond() / 60;
			if (minute != this.minute) {
				this.failures.clear();
			}
			this.minute = minute;
			return this.failures.merge(Budget.of(entry.action()), 1, Integer::sum) <= MOST_FAILURES;
		}
	}

	private void appended(@Nullable Throwable failure) {
		if (failure == null) {
			if (this.failing.compareAndSet(true, false)) {
				logger.warn("The audit trail can be written again; {} entries of this instance are only in its log",
						this.lost.get());
			}
			return;
		}
		this.lost.incrementAndGet();
		if (this.failing.compareAndSet(false, true)) {
			logger.warn("The audit trail cannot be written ({}); until it can, entries are only in the audit log",
					cause(failure));
			logger.debug("The audit trail cannot be written", failure);
		}
	}

	/** Not the whole trace: what the store itself said is at its bottom. */
	private static String cause(Throwable failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		return (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getSimpleName();
	}

	private List<AuditRecord> remembered(@Nullable AuditPosition before, int limit) {
		synchronized (this.last) {
			return this.last.stream()
				.filter((entry) -> before == null || entry.position().compareTo(before) < 0)
				.limit(limit)
				.toList();
		}
	}

	private Map<String, Object> answer(String source, @Nullable String note, List<AuditRecord> entries, int limit) {
		Map<String, Object> answer = new LinkedHashMap<>();
		answer.put("source", source);
		if (note != null) {
			answer.put("note", note);
		}
		if (this.lost.get() > 0) {
			answer.put("lost", this.lost.get());
		}
		answer.put("entries", entries.stream().map(AuditTrail::describe).toList());
		if (entries.size() == limit) {
			answer.put("before", entries.get(limit - 1).position().text());
		}
		return answer;
	}

	private static Map<String, Object> describe(AuditRecord entry) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("time", entry.time().toString());
		described.put("action", entry.action());
		described.put("outcome", entry.outcome());
		described.put("actor", entry.actor());
		described.put("target", entry.target());
		described.put("before", entry.before());
		described.put("after", entry.after());
		described.put("reason", entry.reason());
		return described;
	}

	/**
	 * Whose failures count together.
	 */
	enum Budget {

		OPERATORS, READERS, TENANTS;

		static Budget of(String action) {
			return action.equals(Audit.READ) ? READERS : action.startsWith(Audit.TENANT) ? TENANTS : OPERATORS;
		}

	}

}
