package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store has to do for the chain of its audit trail.
 */
public abstract class AuditChainContract {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	protected PolicyStore store;

	/** Another instance's view of the same store, which was emptied before the test. */
	protected abstract PolicyStore open();

	/** Writes another reason into an entry, past the store. */
	protected abstract void change(AuditPosition position, String reason);

	/** Removes entries past the store. */
	protected abstract void remove(AuditPosition... positions);

	/** Adds an entry as an earlier release does. */
	protected abstract void addUnchained(String reason);

	/** Forgets which entry is the newest of the chain. */
	protected abstract void forgetHead();

	@BeforeEach
	void openStore() {
		this.store = open();
	}

	@Test
	void emptyTrailIsIntact() {
		AuditReport report = verify();
		assertThat(report).isEqualTo(new AuditReport(true, 0, null, false, null, 0, null, 0));
	}

	@Test
	void chainOfUntouchedEntriesIsIntact() {
		add(0, 5);
		AuditReport report = verify();
		assertThat(report.broken()).isNull();
		assertThat(report.entries()).isEqualTo(5);
		assertThat(report.start()).isEqualTo(entries().get(4));
		assertThat(report.trimmed()).isFalse();
	}

	@Test
	void verificationThatRunsOutOfTimeIsNotCompleteAndNamesNoEntry() {
		add(0, 5);
		AuditReport begun = verifyUntil(3);
		assertThat(begun.complete()).isFalse();
		assertThat(begun.entries()).isEqualTo(5);
		assertThat(begun.broken()).isNull();
		AuditReport nothing = verifyUntil(2);
		assertThat(nothing.complete()).isFalse();
		assertThat(nothing.entries()).isZero();
		assertThat(nothing.broken()).isNull();
	}

	@Test
	void brokenEntryIsNamedAlsoIfTheTimeIsOverBeforeItIsCheckedAgain() {
		add(0, 5);
		change(entries().get(2).position(), "another");
		AuditReport report = verifyUntil(4);
		assertThat(report.broken().entry().attempt().reason()).isEqualTo("another");
	}

	/** The clock stands still, and jumps by an hour when it is asked this time. */
	private AuditReport verifyUntil(int jump) {
		AtomicInteger asked = new AtomicInteger();
		return join(
				new AuditScan(this.store, () -> (asked.incrementAndGet() < jump) ? 0 : Duration.ofHours(1).toNanos())
					.verify(MINUTE));
	}

	@Test
	void changedEntryIsNamed() {
		add(0, 5);
		change(entries().get(2).position(), "another");
		assertThat(brokenReason()).isEqualTo("another");
		assertThat(verify().broken().text()).isEqualTo("The content does not match the hash.");
	}

	@Test
	void oldestOfSeveralChangedEntriesIsNamed() {
		add(0, 6);
		List<AuditEntry> entries = entries();
		change(entries.get(1).position(), "later");
		change(entries.get(4).position(), "first");
		assertThat(brokenReason()).isEqualTo("first");
	}

	@Test
	void entryAfterRemovedOnesIsNamed() {
		add(0, 6);
		remove(entries().get(2).position(), entries().get(3).position());
		assertThat(brokenReason()).isEqualTo("reason 4");
		assertThat(verify().broken().text()).isEqualTo("2 entries before it are missing.");
	}

	@Test
	void newestEntriesThatWereRemovedAreMissed() {
		add(0, 4);
		remove(entries().get(0).position());
		assertThat(brokenReason()).isEqualTo("reason 2");
		assertThat(verify().broken().text()).isEqualTo("1 entry after it is missing.");
		add(4, 5);
		assertThat(brokenReason()).isEqualTo("reason 4");
	}

	@Test
	void allEntriesThatWereRemovedAreMissed() {
		add(0, 2);
		remove(entries().get(0).position(), entries().get(1).position());
		assertThat(verify().broken()).isEqualTo(new AuditReport.Problem(null, "All chained entries are missing."));
	}

	@Test
	void oldestEntriesThatWereRemovedWithoutARecordAreMissed() {
		add(0, 4);
		remove(entries().get(3).position());
		assertThat(brokenReason()).isEqualTo("reason 1");
		assertThat(verify().broken().text()).contains("no entry 'audit-trim' names them");
	}

	@Test
	void entryThatTheStoreDoesNotKnowIsNamed() {
		add(0, 3);
		forgetHead();
		assertThat(brokenReason()).isEqualTo("reason 2");
		assertThat(verify().broken().text()).isEqualTo("The store does not know it as the newest entry.");
	}

	@Test
	void chainThatBeginsAnewIsNamed() {
		add(0, 2);
		forgetHead();
		this.store = open();
		add(2, 4);
		assertThat(brokenReason()).isEqualTo("reason 2");
		assertThat(verify().broken().text()).startsWith("A new chain begins here");
	}

	@Test
	void trimmedTrailIsVerifiedFromTheFirstEntryThatStayed() {
		add(0, 400);
		AuditCuts cuts = new AuditCuts(this.store, 300);
		trim(join(cuts.find(Instant.EPOCH)).orElseThrow());
		List<AuditEntry> left = entries();
		assertThat(left).hasSize(298).last().extracting((entry) -> entry.attempt().reason()).isEqualTo("reason 103");
		AuditReport report = verify();
		assertThat(report.broken()).isNull();
		assertThat(report.trimmed()).isTrue();
		assertThat(report.start()).isEqualTo(left.get(297));
		assertThat(join(cuts.find(Instant.EPOCH))).isEmpty();
		add(400, 402);
		assertThat(join(cuts.find(Instant.EPOCH))).isEmpty();
		add(402, 403);
		assertThat(join(cuts.find(Instant.EPOCH))).isPresent();
	}

	@Test
	void entriesThatAreTooOldAreCutOff() {
		add(0, 3);
		AuditCuts cuts = new AuditCuts(this.store, 1_000);
		List<AuditEntry> entries = entries();
		assertThat(join(cuts.find(entries.get(2).position().time()))).isEmpty();
		AuditCuts.Cut cut = join(cuts.find(entries.get(0).position().time())).orElseThrow();
		assertThat(cut).isEqualTo(new AuditCuts.Cut(entries.get(1).position(), entries.get(1).link().hash()));
		trim(cut);
		assertThat(verify().broken()).isNull();
		change(entries().get(1).position(), "another");
		assertThat(brokenReason()).isEqualTo("another");
	}

	@Test
	void entriesOfAnEarlierReleaseAreReadAndTheChainStartsAfterThem() {
		addUnchained("old 0");
		addUnchained("old 1");
		add(0, 3);
		assertThat(entries()).extracting((entry) -> entry.attempt().reason())
			.containsExactly("reason 2", "reason 1", "reason 0", "old 1", "old 0");
		AuditReport report = verify();
		assertThat(report.broken()).isNull();
		assertThat(report.start().attempt().reason()).isEqualTo("reason 0");
		assertThat(report.older()).isEqualTo(2);
		assertThat(report.unchained()).isZero();
	}

	@Test
	void entryOfAnEarlierReleaseInsideTheChainIsNamed() {
		add(0, 2);
		addUnchained("old 0");
		addUnchained("old 1");
		add(2, 3);
		AuditReport report = verify();
		assertThat(report.broken()).isNull();
		assertThat(report.unchained()).isEqualTo(2);
		assertThat(report.firstUnchained().attempt().reason()).isEqualTo("old 0");
		assertThat(report.older()).isZero();
	}

	@Test
	void newestEntryThatIsUnchainedIsNamed() {
		add(0, 2);
		addUnchained("old 0");
		AuditReport report = verify();
		assertThat(report.unchained()).isOne();
		assertThat(report.firstUnchained().attempt().reason()).isEqualTo("old 0");
	}

	@Test
	void onlyEntriesOfAnEarlierReleaseAreRemovedWithoutAHash() {
		for (int i = 0; i < 4; i++) {
			addUnchained("old " + i);
		}
		AuditCuts.Cut cut = join(new AuditCuts(this.store, 2).find(Instant.EPOCH)).orElseThrow();
		assertThat(cut.hash()).isEmpty();
		trim(cut);
		assertThat(entries()).hasSize(3);
		assertThat(verify().broken()).isNull();
	}

	@Test
	void writersAtOnceFormOneChain() {
		List<PolicyStore> writers = List.of(this.store, open(), open());
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (PolicyStore writer : writers) {
			all.add(CompletableFuture.runAsync(() -> IntStream.range(0, 40).forEach((i) -> {
				AuditRecord attempt = attempt("reason " + i);
				retried(writer, attempt);
			})));
		}
		all.forEach((writer) -> join(writer));
		AuditReport report = verify();
		assertThat(report.broken()).isNull();
		assertThat(report.entries()).isEqualTo(120);
		assertThat(join(this.store.auditHead()).number()).isEqualTo(120);
	}

	@Test
	void timeOfTheAttemptIsKeptAlsoIfItIsAddedLater() {
		AuditRecord attempt = AuditRecord.of(Instant.now().minusSeconds(600), "test", "done", "ann", "", "", "", "");
		join(this.store.audit(attempt, null));
		AuditEntry entry = entries().get(0);
		assertThat(entry.attempt()).isEqualTo(attempt);
		assertThat(entry.position().time()).isAfter(attempt.time().plusSeconds(500));
	}

	/** A starved machine may miss the deadline of a call, which is not looked at here. */
	protected static void retried(PolicyStore store, AuditRecord attempt) {
		for (int i = 0; true; i++) {
			try {
				join(store.audit(attempt, null));
				return;
			}
			catch (RuntimeException ex) {
				if (i == 20) {
					throw ex;
				}
			}
		}
	}

	protected final void add(int from, int to) {
		IntStream.range(from, to).forEach((i) -> retried(this.store, attempt("reason " + i)));
	}

	protected static AuditRecord attempt(String reason) {
		return AuditRecord.of(Instant.now(), "policy-write", "done", "ann", "policy orders", "", "{}", reason);
	}

	protected final AuditReport verify() {
		return join(new AuditScan(this.store, System::nanoTime).verify(MINUTE));
	}

	protected final List<AuditEntry> entries() {
		return join(this.store.audit(null, 1_000));
	}

	private void trim(AuditCuts.Cut cut) {
		join(this.store.audit(
				AuditRecord.of(Instant.now(), AuditCuts.ACTION, "done", "ratelimit", cut.hash(), "", "", "trimmed"),
				cut.position()));
	}

	private String brokenReason() {
		return Optional.ofNullable(verify().broken())
			.map(AuditReport.Problem::entry)
			.map((entry) -> entry.attempt().reason())
			.orElse("");
	}

}
