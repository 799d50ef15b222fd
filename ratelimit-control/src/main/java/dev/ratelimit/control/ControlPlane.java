package dev.ratelimit.control;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
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
 * What administrators change goes through here, whoever they are: everything is checked
 * before it reaches the store, and comes into force on all instances, this one included,
 * when they hear of it from the store.
 *
 * <p>
 * All stages fail with an {@link InvalidChangeException}, a {@link NotFoundException}, a
 * {@link ConflictException}, a {@link PolicyInUseException} or a
 * {@link StoreUnavailableException}; then nothing has changed.
 */
public final class ControlPlane {

	/** How many versions are shown of a record. */
	private static final int HISTORY = 100;

	private final PolicyStore store;

	private final Replica replica;

	private final LivePolicies live;

	private final ChangeCheck check;

	private final PolicyUses uses;

	/**
	 * Creates it.
	 * @param replica of the store, which whoever made it starts and closes
	 * @param live what the replica's changes are applied by
	 */
	public ControlPlane(PolicyStore store, Replica replica, LivePolicies live, RecordReader reader, PolicyUses uses) {
		this.store = store;
		this.replica = replica;
		this.live = live;
		this.check = new ChangeCheck(reader, live, InstantSource.system());
		this.uses = uses;
	}

	/**
	 * Writes a policy as a new version.
	 * @param document in the shape of the configuration
	 * @param expect the version that the editor has seen, 0 for the configured one or
	 * none; {@code null} if it does not matter
	 */
	public CompletionStage<RecordVersion> writePolicy(String id, Map<String, Object> document, @Nullable Long expect,
			Author author) {
		return checked(() -> {
			this.check.policyKey(id);
			Rollout rollout = this.check.policy(id, document).settings().rollout();
			return writeAsItIs(id, RolloutStep.begun(document, rollout), expect, author);
		});
	}

	/**
	 * Writes a policy as a new version; one with stages does not begin with the first.
	 */
	private CompletionStage<RecordVersion> writeAsItIs(String id, Map<String, Object> document, @Nullable Long expect,
			Author author) {
		return checked(() -> {
			RecordKey key = this.check.policyKey(id);
			Policy policy = this.check.policy(id, document);
			if (this.check.needsNoPrevious(policy)) {
				return write(new Edit(key, Documents.text(new Documents.PolicyText(document, null)), expect), author);
			}
			// The version that it is brought in beside must be the one that it replaces.
			return newest(key).thenCompose((newest) -> write(new Edit(key,
					Documents.text(new Documents.PolicyText(document, this.check.previous(policy, newest))),
					(expect != null) ? expect : version(newest)), author));
		});
	}

	/**
	 * Writes a policy of the store again, which may be of an earlier release.
	 */
	CompletionStage<RecordVersion> writeAgain(String id, Map<String, Object> stored, @Nullable Long expect,
			Author author) {
		return writeAsItIs(id, this.check.upgraded(stored), expect, author);
	}

	/**
	 * Brings a version back, as a new one.
	 * @param version 0 for the configured one
	 */
	public CompletionStage<RecordVersion> rollBack(String id, long version, @Nullable Long expect, Author author) {
		return checked(() -> {
			RecordKey key = this.check.policyKey(id);
			if (version == 0) {
				return (this.live.configured(id) != null) ? write(new Edit(key, null, expect), author)
						: CompletableFuture.failedStage(missing(id, version));
			}
			return history(key).thenCompose((versions) -> {
				RecordVersion old = find(versions, version);
				if (old == null || old.deleted()) {
					throw missing(id, version);
				}
				return writeAgain(id, Documents.policy(old.body()).document(), expect, author);
			});
		});
	}

	/**
	 * Deletes a policy: the configured one is in force again. Without such, requests that
	 * still name it are decided by the last version that is known.
	 * @param force also if something in this application names it
	 */
	public CompletionStage<RecordVersion> deletePolicy(String id, @Nullable Long expect, boolean force, Author author) {
		return checked(() -> {
			RecordKey key = this.check.policyKey(id);
			List<String> places = (this.live.configured(id) != null) ? List.of() : this.uses.of(id);
			if (!force && !places.isEmpty()) {
				throw new PolicyInUseException(id, places);
			}
			return delete(key, "Policy '" + id + "' was not written at run time", expect, author);
		});
	}

	/**
	 * Writes or deletes a record about a caller.
	 */
	public CompletionStage<RecordVersion> write(Change change, Author author) {
		return checked(() -> {
			Edit edit = this.check.edit(change);
			RecordKey before = before(edit.key());
			if (edit.body() == null) {
				RecordKey key = (before != null) ? before : edit.key();
				return delete(key, "There is no such record", edit.expect(), author);
			}
			return (before == null) ? write(edit, author)
					: write(List.of(new Edit(before, null, edit.expect()), new Edit(edit.key(), edit.body(), null)),
							author)
						.thenApply((versions) -> versions.get(1));
		});
	}

	/**
	 * Writes many records about callers. Each is checked before the first is written;
	 * then they are written in pieces, each as a whole. After a failure it can be done
	 * again.
	 * @return the revision of the last one
	 */
	public CompletionStage<Long> writeAll(List<Change> page, Author author) {
		return checked(() -> {
			List<List<Edit>> pieces = new ArrayList<>();
			Map<RecordKey, RecordKey> named = before();
			for (int i = 0; i < page.size(); i++) {
				Edit edit = this.check.edit(page.get(i), "records[" + i + "]");
				RecordKey before = before(edit.key(), named);
				if (before == null) {
					add(pieces, List.of(edit));
				}
				else {
					Edit removal = new Edit(before, null, null);
					add(pieces, (edit.body() != null) ? List.of(removal, edit) : List.of(removal));
				}
			}
			CompletionStage<Long> written = CompletableFuture.completedStage(0L);
			for (List<Edit> piece : pieces) {
				written = written.thenCompose((before) -> write(piece, author))
					.thenApply((versions) -> versions.get(versions.size() - 1).revision());
			}
			return written;
		});
	}

	/** Edits of one record stay in one piece: half of them would lose the record. */
	private static void add(List<List<Edit>> pieces, List<Edit> edits) {
		List<Edit> last = pieces.isEmpty() ? null : pieces.get(pieces.size() - 1);
		if (last == null || last.size() + edits.size() > PolicyStore.MAX_EDITS) {
			last = new ArrayList<>();
			pieces.add(last);
		}
		last.addAll(edits);
	}

	/**
	 * Versions of a record from the store, the newest first.
	 */
	public CompletionStage<List<RecordVersion>> history(RecordKey key) {
		return checked(() -> fromStore(this.store.history(key, HISTORY)));
	}

	/**
	 * The newest version of a record that this instance knows, {@code null} if there is
	 * none or it was deleted.
	 */
	public @Nullable RecordVersion find(RecordKey key) {
		RecordKey before = before(key);
		RecordVersion version = this.replica.get((before != null) ? before : key);
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
	 * What a version of a policy says, in the shape of the configuration.
	 */
	public static Map<String, Object> document(RecordVersion policy) {
		return Documents.policy(policy.body()).document();
	}

	/**
	 * What a record about a caller says.
	 */
	public static Map<String, Object> body(RecordVersion record) {
		return Documents.parse(record.body());
	}

	/**
	 * Versions that are in the store or in the configuration but not in force here.
	 */
	public List<Rejected> rejected() {
		return this.live.rejected();
	}

	public ReplicaState state() {
		return this.replica.state();
	}

	/**
	 * Ends an incident: gives the store what this instance knows.
	 */
	public CompletionStage<Void> reseed(Author author) {
		return checked(() -> fromStore(this.replica.reseed(author.actor(), author.reason())));
	}

	/**
	 * Ends an incident: takes what the store has.
	 */
	public CompletionStage<Void> accept(Author author) {
		return checked(() -> fromStore(this.replica.accept(author.actor(), author.reason())));
	}

	/**
	 * The name that a record has if it was written when API keys were not digested, and
	 * not again since; {@code null} as a rule.
	 */
	private @Nullable RecordKey before(RecordKey key) {
		return key.id().contains(Dimension.API_KEY.name()) ? before(key, before()) : null;
	}

	private @Nullable RecordKey before(RecordKey key, Map<RecordKey, RecordKey> before) {
		RecordVersion known = this.replica.get(key);
		return (known != null && !known.deleted()) ? null : before.get(key);
	}

	/** Names of such records by those that they would have today. Looks at all. */
	private Map<RecordKey, RecordKey> before() {
		return this.replica.snapshot(0)
			.records()
			.stream()
			.filter((version) -> !version.deleted())
			.map(RecordVersion::key)
			.filter((key) -> !RecordIds.today(key).equals(key))
			.collect(Collectors.toMap(RecordIds::today, Function.identity(), (first, second) -> second));
	}

	private CompletionStage<RecordVersion> delete(RecordKey key, String missing, @Nullable Long expect, Author author) {
		return newest(key).thenCompose((newest) -> {
			if (newest == null || newest.deleted()) {
				throw new NotFoundException(missing);
			}
			return write(new Edit(key, null, expect), author);
		});
	}

	private CompletionStage<RecordVersion> write(Edit edit, Author author) {
		return write(List.of(edit), author).thenApply((versions) -> versions.get(0));
	}

	private CompletionStage<List<RecordVersion>> write(List<Edit> edits, Author author) {
		ReplicaState.Incident incident = this.replica.state().incident();
		if (incident != null) {
			throw new StoreUnavailableException("The store of policies is not what it was: " + incident.text()
					+ ". Let this instance reseed it or accept what it has first", null);
		}
		return fromStore(this.store.write(edits, author.actor(), author.reason()));
	}

	private CompletionStage<@Nullable RecordVersion> newest(RecordKey key) {
		return fromStore(this.store.history(key, 1))
			.thenApply((versions) -> versions.isEmpty() ? null : versions.get(0));
	}

	private static <T> CompletionStage<T> fromStore(CompletionStage<T> stage) {
		return stage.exceptionallyCompose((failure) -> CompletableFuture.failedStage(problem(failure)));
	}

	private static Throwable problem(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		boolean known = cause instanceof ConflictException || cause instanceof IllegalStateException;
		return known ? cause : new StoreUnavailableException(
				"The store of policies cannot be reached; if it was only slow, the write may still arrive", cause);
	}

	/** So that there is one way to fail. */
	private static <T> CompletionStage<T> checked(Supplier<CompletionStage<T>> work) {
		try {
			return work.get();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private static @Nullable RecordVersion find(List<RecordVersion> versions, long number) {
		return versions.stream().filter((version) -> version.version() == number).findFirst().orElse(null);
	}

	private static NotFoundException missing(String id, long version) {
		return new NotFoundException("Policy '" + id + "' has no version " + version + " to go back to");
	}

	private static long version(@Nullable RecordVersion newest) {
		return (newest != null) ? newest.version() : 0;
	}

}
