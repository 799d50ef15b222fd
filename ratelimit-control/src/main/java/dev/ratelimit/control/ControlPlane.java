package dev.ratelimit.control;

import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;
import dev.ratelimit.Rollout;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;
import dev.ratelimit.store.ReplicaState;

/**
 * All changes of administrators: checks them, then writes them to the store. They come
 * into force on all instances, this one included, when these read them from the store.
 *
 * <p>
 * All stages fail with an {@link InvalidChangeException}, a {@link NotFoundException}, a
 * {@link ConflictException}, a {@link PolicyInUseException} or a
 * {@link StoreUnavailableException}; then nothing has changed.
 */
public final class ControlPlane {

	private final StoreAccess store;

	private final Replica replica;

	private final LivePolicies live;

	private final ChangeCheck check;

	private final PolicyUses uses;

	private final RecordWrites records;

	/**
	 * @param replica copy of the store; the caller starts and closes it
	 */
	public ControlPlane(PolicyStore store, Replica replica, LivePolicies live, RecordReader reader, PolicyUses uses) {
		this.store = new StoreAccess(store, replica);
		this.replica = replica;
		this.live = live;
		this.check = new ChangeCheck(reader, live, uses, InstantSource.system());
		this.uses = uses;
		this.records = new RecordWrites(this.store, replica, this.check);
	}

	/**
	 * Writes a policy as a new version.
	 * @param document in the shape of the configuration
	 * @param expect the version that the editor has seen, 0 for the configured one or
	 * none; {@code null} accepts any
	 */
	public CompletionStage<RecordVersion> writePolicy(String id, Map<String, Object> document, @Nullable Long expect,
			Author author) {
		return checked(() -> {
			this.check.policyKey(id);
			Rollout rollout = this.check.policy(id, document).settings().rollout();
			return writeAsItIs(id, RolloutStep.begun(document, rollout), expect, author);
		});
	}

	/** Unlike {@link #writePolicy}, does not begin at the first stage. */
	private CompletionStage<RecordVersion> writeAsItIs(String id, Map<String, Object> document, @Nullable Long expect,
			Author author) {
		return checked(() -> {
			RecordKey key = this.check.policyKey(id);
			Policy policy = this.check.storedPolicy(id, document);
			if (this.check.needsNoPrevious(policy)) {
				String body = Documents.text(new Documents.PolicyText(document, null));
				return this.store.write(new Edit(key, body, expect), author);
			}
			return this.store.newest(key).thenCompose((newest) -> {
				String body = Documents.text(new Documents.PolicyText(document, this.check.previous(policy, newest)));
				// The previous version in the body must be the one that this replaces.
				long expected = (expect != null) ? expect : (newest != null) ? newest.version() : 0;
				return this.store.write(new Edit(key, body, expected), author);
			});
		});
	}

	/** Writes a stored policy again, which may be of an earlier release. */
	CompletionStage<RecordVersion> writeAgain(String id, Map<String, Object> stored, @Nullable Long expect,
			Author author) {
		return writeAsItIs(id, this.check.upgraded(stored), expect, author);
	}

	/**
	 * Brings a version back, as a new one.
	 * @param version 0 for the configured one
	 * @param share whom it is for if it was a stage of a rollout; {@code null} rejects
	 * such a version
	 */
	public CompletionStage<RecordVersion> rollBack(String id, long version, @Nullable Share share,
			@Nullable Long expect, Author author) {
		return checked(() -> {
			RecordKey key = this.check.policyKey(id);
			if (version == 0) {
				Policy configured = this.live.configured(id);
				if (configured == null) {
					throw missing(id, version);
				}
				this.uses.requireFitting(configured);
				return this.store.write(new Edit(key, null, expect), author);
			}
			return history(key).thenCompose((versions) -> {
				RecordVersion old = versions.stream()
					.filter((candidate) -> candidate.version() == version && !candidate.deleted())
					.findFirst()
					.orElseThrow(() -> missing(id, version));
				return writeAgain(id, this.check.shared(id, document(old), share), expect, author);
			});
		});
	}

	/**
	 * Deletes a policy: the configured one is in force again. If there is none, the last
	 * version decides requests that still name the policy.
	 * @param force whether to delete it although something in this application names it
	 */
	public CompletionStage<RecordVersion> deletePolicy(String id, @Nullable Long expect, boolean force, Author author) {
		return checked(() -> {
			RecordKey key = this.check.policyKey(id);
			Policy configured = this.live.configured(id);
			List<String> places = (configured != null) ? List.of() : this.uses.of(id);
			if (!force && !places.isEmpty()) {
				throw new PolicyInUseException(id, places);
			}
			if (configured != null) {
				this.uses.requireFitting(configured);
			}
			return this.store.delete(key, "Policy '" + id + "' was not written at run time", expect, author);
		});
	}

	/**
	 * Writes or deletes a record about a caller.
	 */
	public CompletionStage<RecordVersion> write(Change change, Author author) {
		return write(change, Map.of(), author);
	}

	/**
	 * Writes or deletes a record about a caller.
	 * @param kept fields of its stored version that stay in it unchecked: a newer release
	 * wrote them
	 */
	public CompletionStage<RecordVersion> write(Change change, Map<String, Object> kept, Author author) {
		return checked(() -> this.records.write(change, kept, author));
	}

	/**
	 * Writes many records about callers. Checks all of them first, then writes them in
	 * pieces, each as a whole. After a failure the call can be repeated.
	 * @param progress gets the number of records that are written, after each piece
	 * @return the revision of the last one
	 */
	public CompletionStage<Long> writeAll(List<Change> page, Author author, IntConsumer progress) {
		return checked(() -> this.records.writeAll(page, author, progress));
	}

	/**
	 * Versions of a record from the store, the newest first.
	 */
	public CompletionStage<List<RecordVersion>> history(RecordKey key) {
		return checked(() -> this.store.history(key));
	}

	/**
	 * The newest version of a record that this instance knows, {@code null} if there is
	 * none or it was deleted.
	 */
	public @Nullable RecordVersion find(RecordKey key) {
		RecordKey undigested = this.records.undigested(key);
		RecordVersion version = this.replica.get((undigested != null) ? undigested : key);
		return (version != null && !version.deleted()) ? version : null;
	}

	/**
	 * Records that this instance knows, by id.
	 * @param after only those behind this id
	 */
	public List<RecordVersion> list(Kind kind, String after, int limit) {
		return this.replica.snapshot(0)
			.records()
			.stream()
			.filter((version) -> version.key().kind() == kind && !version.deleted())
			.filter((version) -> RecordIds.today(version.key()).id().compareTo(after) > 0)
			.sorted(Comparator.comparing((RecordVersion version) -> RecordIds.today(version.key()).id()))
			.limit(limit)
			.toList();
	}

	/**
	 * A version of a policy in the shape of the configuration.
	 */
	public static Map<String, Object> document(RecordVersion policy) {
		return Documents.policy(policy.body()).document();
	}

	/**
	 * Number ({@code version}) and document ({@code policy}) of the version that decides
	 * for callers that this one is not for, {@code null} if there is none.
	 */
	public static @Nullable Map<String, Object> previous(RecordVersion policy) {
		Documents.Previous previous = Documents.policy(policy.body()).previous();
		return (previous != null) ? Map.of("version", previous.version(), "policy", previous.document()) : null;
	}

	/**
	 * Whether something in this application names a policy.
	 */
	public boolean isNamed(String id) {
		return !this.uses.of(id).isEmpty();
	}

	/**
	 * The content of a record about a caller.
	 */
	public static Map<String, Object> body(RecordVersion record) {
		return Documents.parse(record.body());
	}

	public ReplicaState state() {
		return this.replica.state();
	}

	/**
	 * Ends an incident: gives the store what this instance knows. Fails with a
	 * {@link dev.ratelimit.store.ConfirmationException} if that removes another number of
	 * records of the store.
	 * @param confirmed how many records may be removed, {@code null} for none
	 */
	public CompletionStage<Void> reseed(@Nullable Long confirmed, Author author) {
		return checked(() -> StoreAccess.translated(this.replica.reseed(confirmed, author.actor(), author.reason())));
	}

	/**
	 * Ends an incident: takes what the store has. Fails with a
	 * {@link dev.ratelimit.store.ConfirmationException} if that removes another number of
	 * records of this instance.
	 * @param confirmed how many records may be removed, {@code null} for none
	 */
	public CompletionStage<Void> accept(@Nullable Long confirmed, Author author) {
		return checked(() -> StoreAccess.translated(this.replica.accept(confirmed, author.actor(), author.reason())));
	}

	/** Whom a version is for that was a stage of a rollout. */
	public enum Share {

		/** All callers at once. */
		EVERYBODY,

		/** The callers of its first stage, then those of the next ones. */
		STAGES

	}

	/** Turns exceptions into failed stages. */
	private static <T> CompletionStage<T> checked(Supplier<CompletionStage<T>> work) {
		try {
			return work.get();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private static NotFoundException missing(String id, long version) {
		return new NotFoundException("Policy '" + id + "' has no version " + version + " to go back to");
	}

}
