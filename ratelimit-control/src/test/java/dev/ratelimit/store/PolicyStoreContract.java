package dev.ratelimit.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.store.RecordKey.Kind;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What every store of policies has to do with records.
 */
public abstract class PolicyStoreContract extends RecoveryContract {

	@Test
	void emptyStoreHasNeitherIdNorRevision() {
		assertThat(join(this.store.changesSince(0, 10))).isEqualTo(new Changes("", 0, List.of()));
		assertThat(join(this.store.history(ORDERS, 10))).isEmpty();
		assertThat(join(this.store.audit(null, 10))).isEmpty();
	}

	@Test
	void writtenRecordIsReadByOthersAsItIs() {
		Instant before = Instant.now().minusSeconds(5);
		RecordVersion written = write(ORDERS, "{\"a\": 1}");
		assertThat(written).isEqualTo(
				new RecordVersion(ORDERS, 1, written.revision(), "{\"a\": 1}", "ann", written.time(), "because"));
		assertThat(written.time()).isBetween(before, Instant.now().plusSeconds(5));
		Changes changes = join(open().changesSince(0, 10));
		assertThat(changes.versions()).containsExactly(written);
		assertThat(changes.revision()).isEqualTo(written.revision()).isPositive();
		assertThat(join(open().history(ORDERS, 10))).containsExactly(written);
	}

	@Test
	void idOfTheStoreStaysTheSame() {
		write(ORDERS, "1");
		String id = join(this.store.changesSince(0, 10)).storeId();
		write(SEARCH, "2");
		assertThat(id).isNotBlank();
		assertThat(join(open().changesSince(0, 10)).storeId()).isEqualTo(id);
	}

	@Test
	void numbersGoUpAlsoAfterADeletion() {
		RecordVersion first = write(ORDERS, "1");
		RecordVersion other = write(SEARCH, "1");
		RecordVersion second = write(ORDERS, "2");
		RecordVersion deleted = write(ORDERS, null);
		RecordVersion again = write(ORDERS, "3");
		assertThat(List.of(first, second, deleted, again)).extracting(RecordVersion::version)
			.containsExactly(1L, 2L, 3L, 4L);
		assertThat(other.version()).isOne();
		assertThat(List.of(first, other, second, deleted, again)).extracting(RecordVersion::revision)
			.isSorted()
			.doesNotHaveDuplicates();
		assertThat(deleted.deleted()).isTrue();
		assertThat(again.deleted()).isFalse();
	}

	@Test
	void expectedVersionIsWrittenOver() {
		RecordVersion first = expecting(ORDERS, "1", 0);
		assertThat(expecting(ORDERS, "2", first.version()).version()).isEqualTo(2);
	}

	@Test
	void otherVersionThanExpectedIsAConflictAndNothingIsWritten() {
		write(ORDERS, "1");
		RecordVersion newest = write(ORDERS, "2");
		assertThat(conflict(ORDERS, "3", 1).newest()).isEqualTo(2);
		assertThat(conflict(ORDERS, "3", 3).newest()).isEqualTo(2);
		assertThat(conflict(ORDERS, "3", 0).newest()).isEqualTo(2);
		assertThat(conflict(SEARCH, "3", 1).newest()).isZero();
		Changes changes = join(this.store.changesSince(0, 10));
		assertThat(changes.versions()).containsExactly(newest);
		assertThat(changes.revision()).isEqualTo(newest.revision());
	}

	@Test
	void deletedRecordIsExpectedByTheVersionThatDeletedIt() {
		write(ORDERS, "1");
		RecordVersion deleted = write(ORDERS, null);
		assertThat(conflict(ORDERS, "2", 0).newest()).isEqualTo(deleted.version());
		assertThat(conflict(ORDERS, "2", 1).newest()).isEqualTo(deleted.version());
		assertThat(expecting(ORDERS, "2", deleted.version()).version()).isEqualTo(3);
	}

	@Test
	void severalEditsAreWrittenInTheirOrder() {
		write(SEARCH, "1");
		List<RecordVersion> written = join(this.store
			.write(List.of(new Edit(SEARCH, "2", 1L), new Edit(ORDERS, "1", 0L)), Seen.NOTHING, "ann", "both"));
		assertThat(written).extracting(RecordVersion::key).containsExactly(SEARCH, ORDERS);
		assertThat(written).extracting(RecordVersion::version).containsExactly(2L, 1L);
		assertThat(written.get(0).revision()).isLessThan(written.get(1).revision());
		assertThat(join(this.store.changesSince(0, 10)).versions()).isEqualTo(written);
	}

	@Test
	void conflictOfOneEditStopsAllOfThem() {
		RecordVersion orders = write(ORDERS, "1");
		List<Edit> edits = List.of(new Edit(SEARCH, "1", null), new Edit(ORDERS, "2", 7L));
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> join(this.store.write(edits, Seen.NOTHING, "ann", "because")))
			.withCauseInstanceOf(ConflictException.class);
		assertThat(join(this.store.changesSince(0, 10)).versions()).containsExactly(orders);
		assertThat(join(this.store.history(SEARCH, 10))).isEmpty();
	}

	@Test
	void writesThatAreTooLargeOrNameARecordTwiceAreRefused() {
		List<Edit> twice = List.of(new Edit(ORDERS, "1", null), new Edit(ORDERS, "2", null));
		List<Edit> many = edits(0, PolicyStore.MAX_EDITS + 1);
		for (List<Edit> edits : List.of(twice, many)) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(this.store.write(edits, Seen.NOTHING, "ann", "because")))
				.withCauseInstanceOf(IllegalArgumentException.class);
		}
		assertThat(join(this.store.changesSince(0, 10)).revision()).isZero();
		assertThat(join(this.store.write(List.of(), Seen.NOTHING, "ann", "nothing"))).isEmpty();
		assertThat(join(this.store.write(edits(0, PolicyStore.MAX_EDITS), Seen.NOTHING, "ann", "all")))
			.hasSize(PolicyStore.MAX_EDITS);
	}

	@Test
	void historyIsNewestFirstAndHasDeletions() {
		List<RecordVersion> written = new ArrayList<>();
		for (String body : Arrays.asList("1", "2", null, "3")) {
			written.add(0, write(ORDERS, body));
		}
		write(SEARCH, "other");
		assertThat(join(this.store.history(ORDERS, 10))).isEqualTo(written);
		assertThat(join(this.store.history(ORDERS, 2))).isEqualTo(written.subList(0, 2));
	}

	@Test
	void changesComeInPagesInTheOrderOfRevisions() {
		for (int i = 0; i < 7; i++) {
			write(new RecordKey(Kind.TIER, "tenant/" + i), "{}");
		}
		List<RecordVersion> read = new ArrayList<>();
		Changes page;
		do {
			page = join(this.store.changesSince(last(read), 3));
			assertThat(page.versions()).hasSizeBetween(1, 3);
			read.addAll(page.versions());
		}
		while (last(read) < page.revision());
		assertThat(read).extracting((version) -> version.key().id())
			.containsExactly("tenant/0", "tenant/1", "tenant/2", "tenant/3", "tenant/4", "tenant/5", "tenant/6");
		assertThat(read).extracting(RecordVersion::revision).isSorted();
		assertThat(join(this.store.changesSince(last(read), 3)).versions()).isEmpty();
	}

	@Test
	void changesShowEachRecordOnceWithItsNewestVersion() {
		RecordVersion orders = write(ORDERS, "1");
		write(SEARCH, "1");
		write(SEARCH, "2");
		RecordVersion deleted = write(SEARCH, null);
		RecordVersion newest = write(ORDERS, "2");
		assertThat(join(this.store.changesSince(0, 10)).versions()).containsExactly(deleted, newest);
		assertThat(join(this.store.changesSince(orders.revision(), 10)).versions()).containsExactly(deleted, newest);
		assertThat(join(this.store.changesSince(deleted.revision(), 10)).versions()).containsExactly(newest);
	}

	@Test
	void recordsOfDifferentKindsMayHaveTheSameName() {
		write(new RecordKey(Kind.ALLOW, "tenant=acme"), "1");
		assertThat(write(new RecordKey(Kind.DENY, "tenant=acme"), "2").version()).isOne();
	}

	@Test
	void textsMayHaveAnyCharacters() {
		RecordKey key = new RecordKey(Kind.OVERRIDE, STRANGE);
		join(this.store.write(List.of(new Edit(key, STRANGE, null)), Seen.NOTHING, STRANGE, STRANGE));
		RecordVersion read = join(open().changesSince(0, 10)).versions().get(0);
		assertThat(read).isEqualTo(new RecordVersion(key, 1, read.revision(), STRANGE, STRANGE, read.time(), STRANGE));
		assertThat(join(this.store.history(key, 1))).containsExactly(read);
		join(this.store.write(List.of(new Edit(ORDERS, "", null)), Seen.NOTHING, "", ""));
		assertThat(join(this.store.history(ORDERS, 1))).singleElement().satisfies((empty) -> {
			assertThat(empty.body()).isEmpty();
			assertThat(empty.actor()).isEmpty();
		});
	}

	@Test
	void writersAtOnceNeitherLoseNorDoubleAVersion() throws Exception {
		int writers = 4;
		int each = 40;
		List<RecordVersion> written = new CopyOnWriteArrayList<>();
		atOnce(writers, (writer) -> {
			PolicyStore mine = open();
			for (int i = 0; i < each; i++) {
				written.addAll(join(mine.write(
						List.of(new Edit((i % 2 == 0) ? ORDERS : SEARCH, writer + "/" + i, null),
								new Edit((i % 2 == 0) ? SEARCH : ORDERS, writer + "/" + i, null)),
						Seen.NOTHING, "writer" + writer, "")));
			}
			return null;
		});
		for (RecordKey key : List.of(ORDERS, SEARCH)) {
			assertThat(written.stream().filter((version) -> version.key().equals(key)))
				.extracting(RecordVersion::version)
				.containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(1, writers * each).boxed().toList());
			List<RecordVersion> history = join(this.store.history(key, writers * each));
			assertThat(written).containsAll(history);
			assertThat(history).hasSize(PolicyStore.KEPT_VERSIONS);
		}
		assertThat(written).extracting(RecordVersion::revision).doesNotHaveDuplicates();
	}

	@Test
	void ofWritersWithTheSameExpectationOneWins() throws Exception {
		for (long version = 0; version < 20; version++) {
			long expected = version;
			List<RecordVersion> winners = new CopyOnWriteArrayList<>();
			atOnce(3, (writer) -> {
				try {
					winners.add(expecting(ORDERS, "writer" + writer, expected));
				}
				catch (CompletionException ex) {
					assertThat(ex).hasCauseInstanceOf(ConflictException.class);
				}
				return null;
			});
			assertThat(winners).singleElement().extracting(RecordVersion::version).isEqualTo(version + 1);
		}
	}

	@Test
	void whoHasReadUpToARevisionHasSeenEveryWriteUpToIt() throws Exception {
		int writers = 3;
		int each = 60;
		Set<RecordKey> seen = new HashSet<>();
		ExecutorService threads = Executors.newFixedThreadPool(1);
		try {
			Future<?> reader = threads.submit(() -> {
				PolicyStore mine = open();
				long revision = 0;
				while (seen.size() < writers * each) {
					Changes changes = join(mine.changesSince(revision, 7));
					for (RecordVersion version : changes.versions()) {
						assertThat(version.revision()).isGreaterThan(revision);
						revision = version.revision();
						assertThat(seen.add(version.key())).isTrue();
					}
				}
			});
			atOnce(writers, (writer) -> {
				PolicyStore mine = open();
				for (int i = 0; i < each; i += 3) {
					join(mine.write(edits(writer * each + i, 3), Seen.NOTHING, "writer" + writer, ""));
				}
				return null;
			});
			reader.get(30, TimeUnit.SECONDS);
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void recordNeedsAName() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RecordKey(Kind.POLICY, " "));
	}

	private RecordVersion expecting(RecordKey key, String body, long version) {
		return join(this.store.write(List.of(new Edit(key, body, version)), Seen.NOTHING, "ann", "because")).get(0);
	}

	private ConflictException conflict(RecordKey key, String body, long expected) {
		try {
			throw new AssertionError("no conflict but " + expecting(key, body, expected));
		}
		catch (CompletionException ex) {
			assertThat(ex).hasCauseInstanceOf(ConflictException.class);
			return (ConflictException) ex.getCause();
		}
	}

	private static long last(List<RecordVersion> versions) {
		return versions.isEmpty() ? 0 : versions.get(versions.size() - 1).revision();
	}

	private static List<Edit> edits(int first, int count) {
		return IntStream.range(first, first + count)
			.mapToObj((i) -> new Edit(new RecordKey(Kind.OVERRIDE, "orders/tenant/" + i), "{}", null))
			.toList();
	}

	private static void atOnce(int writers, Writer writer) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(writers);
		try {
			List<Callable<Void>> calls = IntStream.range(0, writers)
				.<Callable<Void>>mapToObj((i) -> () -> writer.write(i))
				.toList();
			for (Future<Void> call : threads.invokeAll(calls, 60, TimeUnit.SECONDS)) {
				call.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	private interface Writer {

		Void write(int writer) throws Exception;

	}

}
