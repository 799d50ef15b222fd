package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.RecordKey.Kind;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What every store of policies, and the copies of it, have to do with deleted records
 * that are too old or too many.
 */
public abstract class ForgottenContract extends StoreFleetContract {

	/** Deletions that are far too many are kept for 10 minutes. */
	private static final Duration SOON = Duration.ofMinutes(11);

	/** Deletions that are too many are kept for a day. */
	private static final Duration LATER = Duration.ofHours(25);

	private static final Duration LONGER = PolicyStore.KEPT_DELETIONS_FOR.plusDays(1);

	private final List<Replica> replicas = new ArrayList<>();

	private final List<RecordVersion> told = new CopyOnWriteArrayList<>();

	@AfterEach
	void closeReplicas() {
		this.replicas.forEach(Replica::close);
	}

	@Test
	void forgottenRecordIsGoneWithItsHistory() {
		write(ORDERS, "1");
		RecordVersion deleted = write(ORDERS, null);
		RecordVersion other = write(SEARCH, "1");
		forget(deleted);
		Changes changes = join(open().changesSince(0, 10));
		assertThat(changes.versions()).containsExactly(other);
		assertThat(changes.revision()).isEqualTo(other.revision());
		assertThat(changes.forgotten()).isEqualTo(new Forgotten(deleted.revision(), deleted.version()));
		assertThat(join(this.store.history(ORDERS, 10))).isEmpty();
		assertThat(join(this.store.history(SEARCH, 10))).containsExactly(other);
	}

	@Test
	void recordThatIsCreatedAgainBeginsAboveEveryNumberThatItEverHad() {
		for (int i = 1; i < 7; i++) {
			write(ORDERS, "" + i);
		}
		RecordVersion deleted = write(ORDERS, null);
		write(SEARCH, "1");
		RecordVersion deletedLater = write(SEARCH, null);
		forget(deleted);
		forget(deletedLater);
		assertThat(join(this.store.write(List.of(new Edit(ORDERS, "8", 0L), new Edit(SEARCH, "3", 0L)), Seen.NOTHING,
				"ann", "")))
			.extracting(RecordVersion::version)
			.containsExactly(8L, 8L);
		assertThat(write(ORDERS, "9").version()).isEqualTo(9);
		assertThat(write(RecordKey.named("policy/new"), "1").version()).isEqualTo(8);
	}

	@Test
	void forgottenRecordIsExpectedAsIfItHadNeverBeen() {
		RecordVersion deleted = deleted(ORDERS);
		forget(deleted);
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> join(
					this.store.write(List.of(new Edit(ORDERS, "3", deleted.version())), Seen.NOTHING, "ann", "")))
			.withCause(new ConflictException(deleted.version(), 0));
		assertThat(join(this.store.write(List.of(new Edit(ORDERS, "3", 0L)), Seen.NOTHING, "ann", ""))).hasSize(1);
	}

	@Test
	void recordsThatAreNotDeletedOrWereWrittenSinceStay() {
		RecordVersion live = write(SEARCH, "1");
		RecordVersion deleted = deleted(ORDERS);
		RecordVersion again = write(ORDERS, "3");
		forget(live, deleted);
		assertThat(join(open().changesSince(0, 10)))
			.isEqualTo(new Changes(id(), again.revision(), List.of(live, again)));
		assertThat(join(this.store.history(ORDERS, 10))).hasSize(3);
		RecordVersion deletedAgain = write(ORDERS, null);
		forget(deleted);
		assertThat(join(this.store.changesSince(0, 10)).versions()).containsExactly(live, deletedAgain);
	}

	@Test
	void storeThatLostWhatTheCallerHasSeenForgetsNothing() {
		RecordVersion deleted = deleted(ORDERS);
		for (Seen seen : List.of(new Seen("another", 1), new Seen(id(), deleted.revision() + 1))) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(this.store.forget(List.of(deleted), seen)))
				.withCauseInstanceOf(StoreLostException.class);
		}
		assertThat(join(open().changesSince(0, 10)).versions()).containsExactly(deleted);
	}

	@Test
	void callToForgetIsBounded() {
		List<RecordVersion> many = IntStream.rangeClosed(0, PolicyStore.MAX_EDITS)
			.mapToObj((i) -> new RecordVersion(key(i), 1, i + 1, null, "", Instant.EPOCH, ""))
			.toList();
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> join(this.store.forget(many, Seen.NOTHING)))
			.withCauseInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void restoredStoreNumbersNewRecordsAboveWhatTheInstanceHasForgotten() {
		RecordVersion lost = new RecordVersion(SEARCH, 7, 41, "1", "ann", Instant.EPOCH, "long ago");
		join(this.store.restore("known", 41, 812, List.of(lost)));
		assertThat(join(open().changesSince(41, 10)).forgotten()).isEqualTo(new Forgotten(0, 812));
		assertThat(write(ORDERS, "1").version()).isEqualTo(813);
		assertThat(write(SEARCH, "1").version()).isEqualTo(8);
		join(this.store.restore("again", 41, 3, List.of()));
		assertThat(write(RecordKey.named("policy/new"), "1").version()).isEqualTo(813);
	}

	@Test
	void oldestDeletionsAboveTheBoundAreRemovedInStepsAfterADay() {
		RecordVersion live = write(ORDERS, "1");
		List<RecordVersion> deleted = deleted(120);
		Replica replica = follow(Snapshot.NONE);
		List<Integer> steps = new ArrayList<>();
		PolicyStore counting = new ForwardingStore(this.store) {

			@Override
			public CompletionStage<Void> forget(List<RecordVersion> deletions, Seen seen) {
				steps.add(deletions.size());
				return super.forget(deletions, seen);
			}

		};
		trim(counting, replica, SOON, 13);
		assertThat(steps).isEmpty();
		trim(counting, replica, LATER, 13);
		assertThat(steps).containsExactly(50, 50, 7);
		List<RecordVersion> kept = new ArrayList<>(List.of(live));
		kept.addAll(deleted.subList(107, 120));
		assertThat(join(open().changesSince(0, 100)).versions()).isEqualTo(kept);
		trim(counting, replica, LATER, 13);
		assertThat(join(open().changesSince(0, 100)).versions()).isEqualTo(kept);
	}

	@Test
	void deletionsAboveTenTimesTheBoundAreRemovedAfterTenMinutes() {
		List<RecordVersion> deleted = deleted(35);
		Replica replica = follow(Snapshot.NONE);
		trim(this.store, replica, Duration.ZERO, 3);
		assertThat(join(open().changesSince(0, 100)).versions()).isEqualTo(deleted);
		trim(this.store, replica, SOON, 3);
		assertThat(join(open().changesSince(0, 100)).versions()).isEqualTo(deleted.subList(5, 35));
	}

	@Test
	void deletionsThatAreTooOldAreRemovedUpToTheFirstYoungerOne() {
		RecordVersion old = new RecordVersion(key(1), 4, 0, null, "ann", Instant.EPOCH, "");
		join(this.store.restore("known", 0, 0, List.of(old)));
		RecordVersion young = deleted(ORDERS);
		RecordVersion restored = new RecordVersion(key(2), 4, 0, null, "ann", Instant.EPOCH, "");
		join(this.store.restore("known", 0, 0, List.of(restored)));
		Replica replica = follow(Snapshot.NONE);
		trim(this.store, replica, Duration.ZERO, 100);
		assertThat(join(open().changesSince(0, 10)).versions()).extracting(RecordVersion::key)
			.containsExactly(young.key(), restored.key());
		trim(this.store, replica, LONGER, 100);
		assertThat(join(open().changesSince(0, 10)).versions()).isEmpty();
	}

	@Test
	void instanceThatHasSeenTheDeletionsDropsThemFromItsCopy() {
		List<RecordVersion> deleted = deleted(3);
		Replica replica = follow(Snapshot.NONE);
		trim(this.store, replica, LATER, 1);
		RecordVersion next = write(ORDERS, "1");
		soon().until(() -> replica.state().revision() >= next.revision());
		assertThat(replica.snapshot(0).records()).containsExactlyInAnyOrder(deleted.get(2), next);
		assertThat(replica.snapshot(0).forgotten())
			.isEqualTo(new Forgotten(deleted.get(1).revision(), deleted.get(1).version()));
		assertThat(this.told).filteredOn((version) -> version.key().equals(deleted.get(0).key())).hasSize(1);
	}

	@Test
	void instanceWithAnOldSnapshotDropsTheRecordWhoseDeletionWasForgotten() {
		RecordVersion kept = write(SEARCH, "1");
		write(ORDERS, "1");
		Snapshot old = new Snapshot(id(), kept.revision() + 1, 1, join(this.store.changesSince(0, 10)).versions(),
				Forgotten.NONE);
		write(ORDERS, null);
		RecordVersion last = write(SEARCH, "2");
		trim(this.store, follow(Snapshot.NONE), LONGER, 100);
		this.told.clear();
		Replica late = follow(old);
		soon().until(() -> late.state().read());
		assertThat(late.get(ORDERS)).isNull();
		assertThat(late.get(SEARCH)).isEqualTo(last);
		assertThat(late.state().incident()).isNull();
		assertThat(late.state().revision()).isEqualTo(last.revision());
		assertThat(this.told).filteredOn((version) -> version.key().equals(ORDERS))
			.extracting(RecordVersion::body)
			.containsExactly("1", null);
	}

	@Test
	void instanceThatHasReadTheForgottenDeletionsDoesNotReadEverythingAnew() {
		RecordVersion kept = write(SEARCH, "1");
		RecordVersion deleted = deleted(ORDERS);
		Snapshot recent = new Snapshot(id(), deleted.revision(), 1, List.of(kept, deleted), Forgotten.NONE);
		forget(deleted);
		List<Long> asked = new CopyOnWriteArrayList<>();
		Replica late = follow(recent, new ForwardingStore(this.store) {

			@Override
			public CompletionStage<Changes> changesSince(long revision, int limit) {
				asked.add(revision);
				return super.changesSince(revision, limit);
			}

		});
		soon().until(() -> late.state().read());
		assertThat(asked).isNotEmpty().allMatch((revision) -> revision == deleted.revision() - 1);
		assertThat(late.snapshot(0).records()).containsExactly(kept);
	}

	@Test
	void fullReadBeginsAgainIfADeletionIsForgottenMeanwhile() {
		write(ORDERS, "1");
		RecordVersion other = write(SEARCH, "1");
		List<Long> asked = new ArrayList<>();
		PolicyStore view = new ForwardingStore(this.store) {

			@Override
			public CompletionStage<Changes> changesSince(long revision, int limit) {
				asked.add(revision);
				if (asked.size() == 2) {
					ForgottenContract.this.forget(ForgottenContract.this.write(ORDERS, null));
				}
				return super.changesSince(revision, limit);
			}

		};
		StoreReader.Contents all = new StoreReader(view, System::nanoTime).all(1);
		assertThat(all.records()).containsOnlyKeys(SEARCH);
		assertThat(all.forgotten().revision()).isEqualTo(other.revision() + 1);
		assertThat(asked).filteredOn((revision) -> revision == 0).hasSize(2);
	}

	@Test
	void fullReadAnnouncesNoDeletionThatTheCopyHad() {
		RecordVersion deleted = deleted(key(1));
		RecordVersion other = write(key(2), "1");
		Snapshot old = new Snapshot(id(), other.revision(), 1, List.of(other, deleted), Forgotten.NONE);
		RecordVersion last = deleted(key(3));
		forget(deleted, last);
		Replica late = follow(old);
		assertThat(late.get(key(1))).isNull();
		assertThat(this.told).containsExactly(deleted, other);
	}

	@Test
	void fullReadAnnouncesDroppedRecordsFirstAndThenTheOthersByRevision() {
		RecordVersion dropped = write(key(0), "1");
		Snapshot old = new Snapshot(id(), dropped.revision(), 1, List.of(dropped), Forgotten.NONE);
		forget(write(key(0), null));
		List<RecordVersion> kept = new ArrayList<>();
		for (int i = 1; i < 40; i++) {
			kept.add(write(key(i), (i % 2 == 0) ? "{}" : null));
		}
		follow(old);
		assertThat(this.told).hasSize(41);
		assertThat(this.told.get(1)).extracting(RecordVersion::key, RecordVersion::body).containsExactly(key(0), null);
		assertThat(this.told.subList(2, 41)).isEqualTo(kept);
	}

	@Test
	void restoredVersionWithAMuchHigherNumberLeavesTheHistory() {
		for (int i = 1; i < 4; i++) {
			write(ORDERS, "" + i);
		}
		join(this.store.restore("known", 0, 0,
				List.of(new RecordVersion(ORDERS, 814, 0, "3", "ann", Instant.EPOCH, ""))));
		assertThat(join(this.store.history(ORDERS, 10))).extracting(RecordVersion::version)
			.containsExactly(814L, 3L, 2L, 1L);
		write(ORDERS, "4");
		assertThat(join(this.store.history(ORDERS, 10))).hasSize(5);
	}

	@Test
	void deletionOfTheFutureDoesNotKeepTheOnesAboveTheBound() {
		RecordVersion future = new RecordVersion(ORDERS, 4, 0, null, "ann", Instant.now().plus(LONGER), "");
		join(this.store.restore("known", 0, 0, List.of(future)));
		List<RecordVersion> deleted = deleted(20);
		trim(this.store, follow(Snapshot.NONE), LATER, 13);
		assertThat(join(open().changesSince(0, 100)).versions()).isEqualTo(deleted.subList(7, 20));
	}

	private List<RecordVersion> deleted(int count) {
		List<RecordVersion> deleted = new ArrayList<>();
		for (int i = 0; i < count; i += PolicyStore.MAX_EDITS) {
			List<RecordKey> keys = IntStream.range(i, Math.min(i + PolicyStore.MAX_EDITS, count))
				.mapToObj(ForgottenContract::key)
				.toList();
			join(this.store.write(keys.stream().map((key) -> new Edit(key, "{}", null)).toList(), Seen.NOTHING, "ann",
					""));
			deleted.addAll(join(this.store.write(keys.stream().map((key) -> new Edit(key, null, null)).toList(),
					Seen.NOTHING, "ann", "")));
		}
		return deleted;
	}

	private RecordVersion deleted(RecordKey key) {
		write(key, "1");
		return write(key, null);
	}

	private void forget(RecordVersion... deletions) {
		join(this.store.forget(List.of(deletions), new Seen(id(), 1)));
	}

	String id() {
		return join(this.store.changesSince(0, 1)).storeId();
	}

	private Replica follow(Snapshot start) {
		return follow(start, this.store);
	}

	private Replica follow(Snapshot start, PolicyStore store) {
		Replica replica = start(start, store);
		soon().until(() -> replica.state().read());
		return replica;
	}

	Replica start(Snapshot start, PolicyStore store) {
		Replica replica = new Replica(store, start, this.told::addAll, System::nanoTime);
		this.replicas.add(replica);
		replica.start();
		return replica;
	}

	private static void trim(PolicyStore store, Replica replica, Duration later, int most) {
		new DeletionTrimmer(store, replica, "one", most).trim(Instant.now().plus(later));
	}

	static RecordKey key(int number) {
		return new RecordKey(Kind.OVERRIDE, "orders/tenant/" + number);
	}

	static ConditionFactory soon() {
		return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(10));
	}

}
