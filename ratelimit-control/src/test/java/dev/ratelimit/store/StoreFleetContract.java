package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;

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
			done(this.store.audit(entry("reason " + i)));
		}
		List<AuditRecord> first = done(open().audit(null, 2));
		assertThat(first).extracting(AuditRecord::reason).containsExactly("reason 4", "reason 3");
		List<AuditRecord> next = done(open().audit(first.get(1).position(), 2));
		assertThat(next).extracting(AuditRecord::reason).containsExactly("reason 2", "reason 1");
		assertThat(done(open().audit(next.get(1).position(), 2))).extracting(AuditRecord::reason)
			.containsExactly("reason 0");
	}

	@Test
	void entriesOfTheSameTimeAreEachReadOnceInPages() {
		Instant time = Instant.now();
		List<String> written = IntStream.range(0, 5).mapToObj((i) -> "reason " + i).toList();
		written.forEach((reason) -> done(this.store.audit(entry(time, reason))));
		List<AuditRecord> read = new ArrayList<>();
		List<AuditRecord> page = done(this.store.audit(null, 1));
		while (!page.isEmpty()) {
			read.addAll(page);
			page = done(this.store.audit(page.get(0).position(), 1));
		}
		assertThat(read).extracting(AuditRecord::reason).containsExactlyInAnyOrderElementsOf(written);
		assertThat(read).extracting(AuditRecord::position).isSortedAccordingTo(Comparator.reverseOrder());
	}

	@Test
	void timeAloneLeavesOutAllEntriesOfThatTime() {
		done(this.store.audit(entry("reason")));
		AuditRecord entry = done(this.store.audit(null, 1)).get(0);
		assertThat(done(this.store.audit(new AuditPosition(entry.time(), 0), 1))).isEmpty();
		assertThat(done(this.store.audit(new AuditPosition(entry.time().plusNanos(1_000), 0), 1))).hasSize(1);
	}

	@Test
	void auditTrailKeepsEveryFieldAndAnyCharacter() {
		AuditRecord entry = entry(STRANGE);
		done(this.store.audit(entry));
		AuditRecord read = done(open().audit(null, 1)).get(0);
		assertThat(read).isEqualTo(new AuditRecord(read.time(), read.sequence(), "policy-write", "done", "ann", STRANGE,
				"", "{}", STRANGE));
		assertThat(Duration.between(entry.time(), read.time()).abs()).isLessThan(Duration.ofSeconds(5));
	}

	@Test
	void oneInstanceLeadsForAsLongAsItAsksAgain() {
		Duration time = Duration.ofSeconds(1);
		assertThat(done(this.store.lead("rollout", "one", time))).isTrue();
		assertThat(done(open().lead("rollout", "two", time))).isFalse();
		assertThat(done(open().lead("other", "two", time))).isTrue();
		Instant end = Instant.now().plusMillis(1_500);
		within(5).until(() -> {
			assertThat(done(this.store.lead("rollout", "one", time))).isTrue();
			assertThat(done(open().lead("rollout", "two", time))).isFalse();
			return Instant.now().isAfter(end);
		});
		within(3).until(() -> done(open().lead("rollout", "two", time)));
		assertThat(done(this.store.lead("rollout", "one", time))).isFalse();
	}

	@Test
	void subscribersAreToldOfOwnAndOthersWrites() throws Exception {
		List<Long> told = new CopyOnWriteArrayList<>();
		try (AutoCloseable subscription = this.store.subscribe(told::add)) {
			within(5).until(() -> told.contains(0L));
			RecordVersion own = write(ORDERS, "1");
			within(1).until(() -> told.contains(own.revision()));
			RecordVersion other = done(open().write(List.of(new Edit(ORDERS, "2", null)), "bob", "")).get(0);
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
	void restoredStoreGoesOnFromWhatItHad() {
		RecordVersion lost = new RecordVersion(ORDERS, 7, 41, "1", "ann", Instant.EPOCH, "long ago");
		RecordVersion deleted = new RecordVersion(SEARCH, 3, 40, null, "ann", Instant.EPOCH, "long ago");
		done(this.store.restore("known", 41, List.of(lost, deleted), "bob", "lost"));
		Changes changes = done(open().changesSince(41, 10));
		assertThat(changes.storeId()).isEqualTo("known");
		assertThat(changes.versions()).extracting(RecordVersion::key).containsExactly(ORDERS, SEARCH);
		assertThat(changes.versions()).extracting(RecordVersion::version).containsExactly(8L, 4L);
		assertThat(changes.versions()).extracting(RecordVersion::revision).allMatch((revision) -> revision > 41);
		assertThat(changes.versions()).extracting(RecordVersion::body).containsExactly("1", null);
		assertThat(changes.versions()).extracting(RecordVersion::actor).containsOnly("bob");
		assertThat(write(ORDERS, "2").version()).isEqualTo(9);
		assertThat(done(this.store.history(ORDERS, 10))).extracting(RecordVersion::version).containsExactly(9L, 8L);
	}

	@Test
	void restoringDoesNotSetNumbersBack() {
		for (int i = 0; i < 5; i++) {
			write(ORDERS, "1");
		}
		long before = done(this.store.changesSince(0, 10)).revision();
		RecordVersion older = new RecordVersion(ORDERS, 2, 2, "0", "ann", Instant.EPOCH, "");
		done(this.store.restore("known", 1, List.of(older), "bob", "back"));
		Changes changes = done(this.store.changesSince(before, 10));
		assertThat(changes.versions()).singleElement().satisfies((version) -> {
			assertThat(version.version()).isEqualTo(6);
			assertThat(version.body()).isEqualTo("0");
		});
	}

	@Test
	void restoringNothingStillSetsIdAndRevision() {
		done(this.store.restore("known", 41, List.of(), "bob", "accepted"));
		assertThat(done(open().changesSince(0, 10))).isEqualTo(new Changes("known", 41, List.of()));
		assertThat(write(ORDERS, "1").revision()).isGreaterThan(41);
		assertThat(done(open().changesSince(0, 10)).storeId()).isEqualTo("known");
	}

	RecordVersion write(RecordKey key, String body) {
		return done(this.store.write(List.of(new Edit(key, body, null)), "ann", "because")).get(0);
	}

	private static AuditRecord entry(String reason) {
		return entry(Instant.now(), reason);
	}

	private static AuditRecord entry(Instant time, String reason) {
		return new AuditRecord(time, "policy-write", "done", "ann", STRANGE, "", "{}", reason);
	}

	static <T> T done(CompletionStage<T> stage) {
		return stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
	}

	private static Within within(int seconds) {
		return Within.seconds(seconds);
	}

}
