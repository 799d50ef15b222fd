package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.testing.Within;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What every store of policies has to do for the instances that share it: tell them of
 * writes, choose one of them, keep the trail of what was done, and go on after a loss.
 */
@SuppressWarnings("try")
public abstract class StoreFleetContract {

	static final RecordKey ORDERS = new RecordKey(Kind.POLICY, "orders");

	static final RecordKey SEARCH = new RecordKey(Kind.POLICY, "search");

	static final String STRANGE = "a'b\"c\\d\ne\tf\r\n{\"g\": [1, null]} ; -- % $1 ? : äß漢字 🚀 \u2028";

	PolicyStore store;

	/** Another instance's view of the same store, which was emptied before the test. */
	protected abstract PolicyStore open();

	/** Ends all subscriptions from the side of the server. */
	protected abstract void cutSubscriptions();

	@BeforeEach
	void openStore() {
		this.store = open();
	}

	@Test
	void auditTrailIsReadInPagesNewestFirst() {
		for (int i = 0; i < 5; i++) {
			join(this.store.audit(entry("reason " + i), null));
		}
		List<AuditEntry> first = join(open().audit(null, 2));
		assertThat(first).extracting((entry) -> entry.attempt().reason()).containsExactly("reason 4", "reason 3");
		List<AuditEntry> next = join(open().audit(first.get(1).position(), 2));
		assertThat(next).extracting((entry) -> entry.attempt().reason()).containsExactly("reason 2", "reason 1");
		assertThat(join(open().audit(next.get(1).position(), 2))).extracting((entry) -> entry.attempt().reason())
			.containsExactly("reason 0");
	}

	@Test
	void entriesOfTheSameTimeAreEachReadOnceInPages() {
		Instant time = Instant.now();
		List<String> written = IntStream.range(0, 5).mapToObj((i) -> "reason " + i).toList();
		written.forEach((reason) -> join(this.store.audit(entry(time, reason), null)));
		List<AuditEntry> read = new ArrayList<>();
		List<AuditEntry> page = join(this.store.audit(null, 1));
		while (!page.isEmpty()) {
			read.addAll(page);
			page = join(this.store.audit(page.get(0).position(), 1));
		}
		assertThat(read).extracting((entry) -> entry.attempt().reason()).containsExactlyInAnyOrderElementsOf(written);
		assertThat(read).extracting(AuditEntry::position).isSortedAccordingTo(Comparator.reverseOrder());
	}

	@Test
	void timeAloneLeavesOutAllEntriesOfThatTime() {
		join(this.store.audit(entry("reason"), null));
		Instant time = join(this.store.audit(null, 1)).get(0).position().time();
		assertThat(join(this.store.audit(new AuditPosition(time, 0), 1))).isEmpty();
		assertThat(join(this.store.audit(new AuditPosition(time.plusNanos(1_000), 0), 1))).hasSize(1);
	}

	@Test
	void auditTrailKeepsEveryFieldAndAnyCharacter() {
		AuditRecord entry = entry(STRANGE);
		join(this.store.audit(entry, null));
		AuditEntry read = join(open().audit(null, 1)).get(0);
		assertThat(read.attempt()).isEqualTo(entry);
		assertThat(Duration.between(entry.time(), read.position().time()).abs()).isLessThan(Duration.ofMinutes(1));
	}

	@Test
	void oneInstanceLeadsForAsLongAsItAsksAgain() {
		Duration time = Duration.ofSeconds(2);
		// Connected before the time runs: on a busy machine that alone may take as long.
		PolicyStore other = open();
		assertThat(join(other.lead("other", "two", time))).isPresent();
		assertThat(join(this.store.lead("rollout", "one", time))).isPresent();
		assertThat(join(other.lead("rollout", "two", time))).isEmpty();
		Instant end = Instant.now().plusMillis(3_000);
		within(10).until(() -> {
			assertThat(join(this.store.lead("rollout", "one", time))).isPresent();
			assertThat(join(other.lead("rollout", "two", time))).isEmpty();
			return Instant.now().isAfter(end);
		});
		within(4).until(() -> join(other.lead("rollout", "two", time)).isPresent());
		assertThat(join(this.store.lead("rollout", "one", time))).isEmpty();
	}

	@Test
	void leaderThatAsksForNoTimeGivesTheTaskUp() {
		Duration time = Duration.ofMinutes(10);
		assertThat(join(this.store.lead("rollout", "one", time))).isPresent();
		assertThat(join(open().lead("rollout", "two", Duration.ZERO))).isEmpty();
		assertThat(join(open().lead("rollout", "two", time))).isEmpty();
		join(this.store.lead("rollout", "one", Duration.ZERO));
		within(10).until(() -> join(open().lead("rollout", "two", time)).isPresent());
	}

	@Test
	void leaderIsToldTheTimeThatVersionsHave() {
		Instant before = write(ORDERS, "1").time();
		Instant now = join(this.store.lead("rollout", "one", Duration.ofMinutes(10))).orElseThrow();
		Instant after = write(ORDERS, "2").time();
		assertThat(now).isBetween(before.truncatedTo(ChronoUnit.MILLIS), after);
	}

	@Test
	void subscribersAreToldOfOwnAndOthersWrites() throws Exception {
		List<Long> told = new CopyOnWriteArrayList<>();
		try (AutoCloseable subscription = this.store.subscribe(told::add)) {
			within(5).until(() -> told.contains(0L));
			RecordVersion own = write(ORDERS, "1");
			within(1).until(() -> told.contains(own.revision()));
			RecordVersion other = join(open().write(List.of(new Edit(ORDERS, "2", null)), Seen.NOTHING, "bob", ""))
				.get(0);
			within(1).until(() -> told.contains(other.revision()));
		}
	}

	@Test
	void subscriberWhoCameLaterIsToldToo() throws Exception {
		List<Long> early = new CopyOnWriteArrayList<>();
		List<Long> late = new CopyOnWriteArrayList<>();
		try (AutoCloseable first = this.store.subscribe(early::add)) {
			within(5).until(() -> early.contains(0L));
			try (AutoCloseable second = this.store.subscribe(late::add)) {
				within(5).until(() -> late.contains(0L));
				RecordVersion written = write(ORDERS, "1");
				within(1).until(() -> early.contains(written.revision()) && late.contains(written.revision()));
			}
			late.clear();
			RecordVersion written = write(ORDERS, "2");
			within(1).until(() -> early.contains(written.revision()));
			assertThat(late).isEmpty();
		}
	}

	@Test
	void subscriptionThatWasCutIsMadeAnewAndTold() throws Exception {
		List<Long> told = new CopyOnWriteArrayList<>();
		try (AutoCloseable subscription = this.store.subscribe(told::add)) {
			within(5).until(() -> told.contains(0L));
			// What was told before may be told twice, but not after this.
			RecordVersion first = write(ORDERS, "1");
			within(1).until(() -> told.contains(first.revision()));
			told.clear();
			cutSubscriptions();
			within(10).until(() -> told.contains(0L));
			RecordVersion written = write(ORDERS, "2");
			within(1).until(() -> told.contains(written.revision()));
		}
	}

	@Test
	void restoredRecordsKeepVersionActorTimeAndReason() {
		RecordVersion lost = new RecordVersion(ORDERS, 7, 41, "1", "ann", Instant.EPOCH, "long ago");
		RecordVersion deleted = new RecordVersion(SEARCH, 3, 40, null, "bob", Instant.EPOCH, STRANGE);
		join(this.store.restore("known", 41, 0, List.of(lost, deleted)));
		Changes changes = join(open().changesSince(41, 10));
		assertThat(changes.storeId()).isEqualTo("known");
		assertThat(changes.versions()).containsExactly(at(42, lost), at(43, deleted));
		assertThat(write(ORDERS, "2").version()).isEqualTo(8);
		assertThat(join(this.store.history(ORDERS, 10))).extracting(RecordVersion::version).containsExactly(8L, 7L);
	}

	@Test
	void restoredRecordThatTheStoreStillHasKeepsItsVersion() {
		write(ORDERS, "1");
		RecordVersion known = write(ORDERS, "2");
		join(this.store.restore("known", 41, 0, List.of(known)));
		assertThat(join(this.store.changesSince(41, 10)).versions()).containsExactly(at(42, known));
		assertThat(join(this.store.history(ORDERS, 10))).extracting(RecordVersion::version).containsExactly(2L, 1L);
	}

	@Test
	void restoredRecordFollowsAnotherOneOfTheSameVersion() {
		RecordVersion theirs = write(ORDERS, "theirs");
		join(this.store.restore("known", 41, 0, List
			.of(new RecordVersion(ORDERS, theirs.version(), 1, "mine", theirs.actor(), theirs.time(), "because"))));
		assertThat(join(this.store.history(ORDERS, 10))).extracting(RecordVersion::body)
			.containsExactly("mine", "theirs");
		assertThat(join(this.store.history(ORDERS, 10))).extracting(RecordVersion::version).containsExactly(2L, 1L);
	}

	@Test
	void restoringDoesNotSetNumbersBack() {
		for (int i = 0; i < 5; i++) {
			write(ORDERS, "1");
		}
		long before = join(this.store.changesSince(0, 10)).revision();
		RecordVersion older = new RecordVersion(ORDERS, 2, 2, "0", "ann", Instant.EPOCH, "");
		join(this.store.restore("known", 1, 0, List.of(older)));
		Changes changes = join(this.store.changesSince(before, 10));
		assertThat(changes.versions()).singleElement().satisfies((version) -> {
			assertThat(version.version()).isEqualTo(6);
			assertThat(version.body()).isEqualTo("0");
		});
	}

	@Test
	void restoringNothingStillSetsIdAndRevision() {
		join(this.store.restore("known", 41, 0, List.of()));
		assertThat(join(open().changesSince(0, 10))).isEqualTo(new Changes("known", 41, List.of()));
		assertThat(write(ORDERS, "1").revision()).isGreaterThan(41);
		assertThat(join(open().changesSince(0, 10)).storeId()).isEqualTo("known");
	}

	@Test
	void storeThatLostWhatAWriterHasSeenRefusesItsWrite() {
		RecordVersion written = write(ORDERS, "1");
		String id = join(this.store.changesSince(0, 1)).storeId();
		for (Seen seen : List.of(new Seen("another", 1), new Seen(id, written.revision() + 1))) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(this.store.write(List.of(new Edit(SEARCH, "1", null)), seen, "ann", "")))
				.withCauseInstanceOf(StoreLostException.class);
		}
		Changes changes = join(open().changesSince(0, 10));
		assertThat(changes).isEqualTo(new Changes(id, written.revision(), List.of(written)));
		join(this.store.write(List.of(new Edit(SEARCH, "1", null)), new Seen(id, written.revision()), "ann", ""));
		join(this.store.restore("recovered," + id, 0, 0, List.of()));
		join(this.store.write(List.of(new Edit(SEARCH, "2", null)), new Seen(id, written.revision()), "ann", ""));
	}

	@Test
	void emptyStoreRefusesTheWriteOfWhoHasSeenAnotherOne() {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(
				() -> join(this.store.write(List.of(new Edit(ORDERS, "1", null)), new Seen("lost", 812), "ann", "")))
			.withCauseInstanceOf(StoreLostException.class);
		assertThat(join(open().changesSince(0, 10))).isEqualTo(new Changes("", 0, List.of()));
	}

	@Test
	void storeKeepsTheLastHundredVersionsOfARecord() {
		for (int i = 1; i <= 103; i++) {
			write(ORDERS, "" + i);
		}
		RecordVersion other = write(SEARCH, "1");
		List<RecordVersion> history = join(this.store.history(ORDERS, 1_000));
		assertThat(history).hasSize(PolicyStore.KEPT_VERSIONS).first().extracting(RecordVersion::body).isEqualTo("103");
		assertThat(history).last().extracting(RecordVersion::version).isEqualTo(4L);
		assertThat(join(this.store.history(SEARCH, 10))).containsExactly(other);
	}

	@Test
	void recordOfAKindThatThisReleaseDoesNotKnowIsKept() {
		RecordKey invented = RecordKey.stored("invented", "tenant/a/b");
		RecordVersion written = write(invented, "{\"new\": true}");
		assertThat(join(open().changesSince(0, 10)).versions()).containsExactly(written);
		assertThat(written.key().kind()).isEqualTo(RecordKey.Kind.UNKNOWN);
		assertThat(join(this.store.history(invented, 10))).containsExactly(written);
		join(this.store.restore("known", 41, 0, List.of(written)));
		assertThat(join(open().changesSince(41, 10)).versions()).containsExactly(at(42, written));
	}

	private static RecordVersion at(long revision, RecordVersion version) {
		return new RecordVersion(version.key(), version.version(), revision, version.body(), version.actor(),
				version.time(), version.reason());
	}

	RecordVersion write(RecordKey key, String body) {
		return join(this.store.write(List.of(new Edit(key, body, null)), Seen.NOTHING, "ann", "because")).get(0);
	}

	private static AuditRecord entry(String reason) {
		return entry(Instant.now(), reason);
	}

	private static AuditRecord entry(Instant time, String reason) {
		return AuditRecord.of(time, "policy-write", "done", "ann", STRANGE, "", "{}", reason);
	}

	private static Within within(int seconds) {
		return Within.seconds(seconds);
	}

}
