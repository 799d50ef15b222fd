package dev.ratelimit.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What a decision about a lost store makes of the records, in every store of policies.
 */
public abstract class RecoveryContract extends ForgottenContract {

	@Test
	void reseedDeletesRecordsOfAnOlderBackupWhoseDeletionWasForgotten() {
		RecordVersion gone = write(key(1), "1");
		RecordVersion kept = write(ORDERS, "1");
		RecordVersion since = write(SEARCH, "1");
		Replica replica = lose(later(kept, new Forgotten(gone.revision() + 1, 7)));
		for (Long confirmed : Arrays.asList(null, 2L)) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(replica.reseed(confirmed, "ann", "disk broke")))
				.withCauseInstanceOf(ConfirmationException.class)
				.withMessageContaining("Reseeding removes 1 of kind override");
		}
		assertThat(join(open().changesSince(0, 10)).versions()).containsExactly(gone, kept, since);
		join(replica.reseed(1L, "ann", "disk broke"));
		assertThat(join(open().changesSince(0, 10)).versions())
			.extracting(RecordVersion::key, RecordVersion::version, RecordVersion::body, RecordVersion::reason)
			.containsExactly(tuple(SEARCH, since.version(), "1", since.reason()),
					tuple(key(1), gone.version() + 1, null, "disk broke"),
					tuple(ORDERS, kept.version(), "1", kept.reason()));
		assertThat(replica.get(key(1))).extracting(RecordVersion::deleted).isEqualTo(true);
		assertThat(replica.get(SEARCH)).isNotNull();
	}

	@Test
	void reseedKeepsTheRecordsOfAnotherStore() {
		RecordVersion other = write(key(1), "1");
		Replica replica = lose(new Snapshot("another", 500, 1, List.of(), new Forgotten(400, 7)));
		join(replica.reseed(null, "ann", ""));
		assertThat(join(open().changesSince(0, 10)).versions()).containsExactly(other);
	}

	@Test
	void interruptedReseedDoesNotBringRecordsBackWhenItIsRepeated() {
		RecordVersion gone = write(key(1), "1");
		RecordVersion kept = write(ORDERS, "1");
		AtomicBoolean broken = new AtomicBoolean(true);
		Replica replica = lose(later(kept, new Forgotten(gone.revision(), 7)), new ForwardingStore(this.store) {

			@Override
			public CompletionStage<Void> restore(String storeId, long revision, long version,
					List<RecordVersion> records) {
				return super.restore(storeId, revision, version, records).thenAccept((done) -> {
					if (broken.getAndSet(false)) {
						throw new IllegalStateException("the answer was lost");
					}
				});
			}

		});
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(replica.reseed(1L, "ann", "")));
		join(replica.reseed(null, "ann", ""));
		assertThat(join(open().changesSince(0, 10)).versions()).filteredOn((version) -> !version.deleted())
			.extracting(RecordVersion::key)
			.containsExactly(ORDERS);
		assertThat(replica.state().incident()).isNull();
	}

	@Test
	void instanceThatReseededAnEmptyStoreStillKnowsWhatItHadForgotten() {
		Replica replica = lose(new Snapshot("lost", 500, 1, List.of(), new Forgotten(400, 7)));
		join(replica.reseed(null, "ann", ""));
		assertThat(replica.snapshot(0).forgotten()).isEqualTo(new Forgotten(400, 7));
		RecordVersion deleted = write(ORDERS, null);
		soon().until(() -> replica.state().revision() == deleted.revision());
		join(this.store.forget(List.of(deleted), replica.seen()));
		RecordVersion last = write(SEARCH, "1");
		soon().until(() -> replica.state().revision() == last.revision());
		assertThat(replica.get(ORDERS)).isNull();
		assertThat(replica.snapshot(0).forgotten()).isEqualTo(new Forgotten(deleted.revision(), deleted.version()));
	}

	@Test
	void reseedWritesTheRecordsInTheOrderOfTheirRevisions() {
		List<RecordVersion> known = versions(60, 100);
		Replica replica = lose(new Snapshot("lost", 500, 1, known, Forgotten.NONE));
		join(replica.reseed(null, "ann", ""));
		assertThat(join(this.store.changesSince(0, 100)).versions()).extracting(RecordVersion::key)
			.containsExactlyElementsOf(known.stream().map(RecordVersion::key).toList());
	}

	@Test
	void acceptWritesItsDeletionsFirstAndThenTheRecordsOfTheStoreByRevision() {
		List<RecordKey> keys = new ArrayList<>(versions(30, 0).stream().map(RecordVersion::key).toList());
		for (int i = 30; i < 60; i++) {
			keys.add(write(key(i), "{}").key());
		}
		Replica replica = lose(new Snapshot("lost", 500, 1, versions(30, 0), Forgotten.NONE));
		join(replica.accept(15L, "ann", ""));
		assertThat(join(this.store.changesSince(0, 100)).versions()).extracting(RecordVersion::key)
			.containsExactlyElementsOf(keys);
	}

	/** Every other one is a deletion. */
	private static List<RecordVersion> versions(int count, long revision) {
		return IntStream.range(0, count)
			.mapToObj((i) -> new RecordVersion(key(i), 1, revision + i + 1, (i % 2 == 0) ? "{}" : null, "ann",
					Instant.EPOCH, ""))
			.toList();
	}

	/** Of an instance that has read the store beyond what it has now. */
	private Snapshot later(RecordVersion known, Forgotten forgotten) {
		return new Snapshot(id(), 500, 1, List.of(known), forgotten);
	}

	/** An instance that knows more than the store. */
	private Replica lose(Snapshot known) {
		return lose(known, this.store);
	}

	private Replica lose(Snapshot known, PolicyStore store) {
		Replica replica = start(known, store);
		soon().until(() -> replica.state().incident() != null);
		return replica;
	}

}
