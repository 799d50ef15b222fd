package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of decisions, on a clock that is set by hand and without the thread.
 */
class RefusalRecorderTests {

	private static final RefusalOptions OPTIONS = new RefusalOptions(10, 0, 100, 3, 1000, Duration.ofHours(24));

	private final CapturedLog log = new CapturedLog(RefusalRecorder.LOGGER);

	private final List<Refusal> entries = new ArrayList<>();

	private CompletableFuture<Void> kept = CompletableFuture.completedFuture(null);

	private long millis = 1_800_000_000_000L;

	@AfterEach
	void end() {
		this.log.close();
	}

	@Test
	void refusalBecomesALineAndAnEntryThatExplainIt() {
		RefusalRecorder recorder = recorder(OPTIONS);
		recorder.decided(ann(), Refusals.refused(), 0);
		recorder.write();
		assertThat(this.entries).singleElement().satisfies((entry) -> {
			assertThat(entry.time()).isEqualTo(Instant.ofEpochMilli(this.millis));
			assertThat(entry.describe()).containsEntry("policy", "orders")
				.containsEntry("version", 7L)
				.containsEntry("limit", "per-user")
				.containsEntry("quota", "10/m")
				.containsEntry("used", 10L)
				.containsEntry("remaining", 0L)
				.containsEntry("retryAfterMs", 6000L)
				.containsEntry("node", "127.0.0.1:6379")
				.containsEntry("source", "redis")
				.containsEntry("traceId", "trace-1")
				.containsEntry("degraded", false)
				.doesNotContainKey("change");
		});
		assertThat(messages()).singleElement()
			.asString()
			.startsWith("{\"event\":\"refused\",\"time\":")
			.contains("\"user\":\"#3\"");
	}

	@Test
	void neitherLineNorEntryHasAValueOfTheCaller() {
		RefusalRecorder recorder = recorder(OPTIONS);
		recorder.decided(ann(), Refusals.refused(), 0);
		recorder.write();
		assertThat(messages().toString() + this.entries).doesNotContain("acme", "ann", "203.0.113");
	}

	@Test
	void linesAreCappedAndTheRestIsTold() {
		RefusalRecorder recorder = recorder(OPTIONS);
		for (int i = 0; i < 1_000; i++) {
			recorder.decided(caller("u" + i), Refusals.refused(), 0);
		}
		recorder.write();
		assertThat(messages()).hasSize(10).allMatch((line) -> line.startsWith("{\"event\":\"refused\""));
		this.millis += 1_000;
		recorder.write();
		assertThat(messages()).hasSize(11).last().asString().contains("\"event\":\"suppressed\"", "\"suppressed\":990");
		this.millis += 1_000;
		recorder.decided(ann(), Refusals.refused(), 0);
		recorder.write();
		assertThat(messages()).hasSize(12).last().asString().startsWith("{\"event\":\"refused\"");
	}

	@Test
	void attackOnOneCounterLeavesTheHistoryToTheOthers() {
		RefusalRecorder recorder = recorder(OPTIONS);
		for (int second = 0; second < 600; second++) {
			for (int i = 0; i < 500; i++) {
				recorder.decided(caller("attacker"), Refusals.refused(), 0);
			}
			recorder.write();
			this.millis += 1_000;
		}
		recorder.decided(ann(), Refusals.refused(), 0);
		this.millis += KeyCaps.LONGEST.toMillis();
		recorder.write();
		List<Refusal> attacks = this.entries.stream().filter((entry) -> entry.caller().containsValue("#8")).toList();
		// Doubling intervals up to 64 s: 6 for the first 63 s, then one every 64 s.
		assertThat(attacks).hasSizeBetween(50, 70);
		assertThat(attacks.stream().mapToLong((entry) -> Math.max(1, entry.repeated())).sum()).isEqualTo(600L * 500);
		assertThat(this.entries).hasSize(attacks.size() + 1);
		assertThat(recorder.missing()).isZero();
	}

	@Test
	void counterThatIsCalmAgainIsToldOneByOne() {
		RefusalRecorder recorder = recorder(OPTIONS);
		for (int i = 0; i < 100; i++) {
			recorder.decided(ann(), Refusals.refused(), 0);
		}
		turns(recorder, 4);
		assertThat(this.entries).hasSize(4).last().satisfies((entry) -> {
			assertThat(entry.repeated()).isEqualTo(97);
			assertThat(entry.describe()).containsEntry("repeated", 97L).containsKey("since");
		});
		for (int i = 0; i < 3; i++) {
			recorder.decided(ann(), Refusals.refused(), 0);
			turns(recorder, 2);
		}
		assertThat(this.entries).hasSize(7).last().extracting(Refusal::repeated).isEqualTo(0L);
	}

	@Test
	void entriesOfASecondAreBounded() {
		RefusalRecorder recorder = recorder(OPTIONS);
		for (int i = 0; i < 1_000; i++) {
			recorder.decided(caller("u" + i), Refusals.refused(), 0);
		}
		turns(recorder, 2);
		assertThat(this.entries).hasSize(100);
		assertThat(recorder.missing()).isEqualTo(900);
	}

	@Test
	void allowedRequestsAreSampled() {
		RefusalRecorder none = recorder(OPTIONS);
		RefusalRecorder every = recorder(new RefusalOptions(10, 1, 100, 3, 1000, Duration.ofHours(1)));
		for (int i = 0; i < 100; i++) {
			none.decided(ann(), Refusals.allowed(), 0);
		}
		none.write();
		assertThat(messages()).isEmpty();
		for (int i = 0; i < 100; i++) {
			every.decided(ann(), Refusals.allowed(), 0);
		}
		this.millis += 2_000;
		every.write();
		assertThat(messages()).hasSize(10).allMatch((line) -> line.startsWith("{\"event\":\"allowed\""));
		assertThat(this.entries).isEmpty();
	}

	@Test
	void shadowRefusalIsKeptAsOne() {
		RefusalRecorder recorder = recorder(OPTIONS);
		recorder.decided(ann(), Refusals.refused().inShadow(), 0);
		recorder.write();
		assertThat(this.entries).singleElement()
			.extracting(Refusal::describe)
			.satisfies((entry) -> assertThat(entry).containsEntry("shadow", true)
				.containsEntry("outcome", "shadow-refused"));
	}

	@Test
	void requestThatNoPolicyWasAskedForIsInNoChange() {
		RefusalRecorder recorder = recorder(OPTIONS);
		recorder.decided(ann(), Decision.without(ann(), 0, false, Decision.Outcome.DENIED, Decision.Reason.LIST), 0);
		recorder.write();
		assertThat(this.entries).singleElement()
			.extracting(Refusal::describe)
			.satisfies((entry) -> assertThat(entry).containsEntry("outcome", "denied")
				.containsEntry("reason", "list")
				.doesNotContainKey("change"));
	}

	@Test
	void historyThatFailsIsCountedAndNothingElse() {
		RefusalRecorder recorder = recorder(OPTIONS);
		this.kept = CompletableFuture.failedFuture(new IllegalStateException("away"));
		recorder.decided(ann(), Refusals.refused(), 0);
		recorder.write();
		assertThat(recorder.missing()).isEqualTo(1);
		assertThat(messages()).hasSize(1);
		this.kept = CompletableFuture.completedFuture(null);
		this.entries.clear();
		recorder.decided(ann(), Refusals.refused(), 0);
		recorder.write();
		assertThat(this.entries).hasSize(1);
		assertThat(recorder.missing()).isEqualTo(1);
	}

	@Test
	void historyThatDoesNotAnswerHoldsUpNoLineAndABoundedNumberOfEntries() {
		RefusalRecorder recorder = recorder(OPTIONS);
		this.kept = new CompletableFuture<>();
		for (int second = 0; second < 60; second++) {
			for (int i = 0; i < 100; i++) {
				recorder.decided(caller("u" + second + "-" + i), Refusals.refused(), 0);
			}
			recorder.write();
			this.millis += 1_000;
		}
		assertThat(messages().stream().filter((line) -> line.startsWith("{\"event\":\"refused\""))).hasSize(600);
		// One batch is under way, and so many wait.
		assertThat(recorder.missing()).isBetween(6_000L - 50 - 2_000, 6_000L);
	}

	@Test
	void queueThatIsFullIsCounted() {
		RefusalRecorder recorder = recorder(new RefusalOptions(10_000, 0, 400, 3, 1000, Duration.ofHours(1)));
		for (int i = 0; i < 3_000; i++) {
			recorder.decided(caller("u" + i), Refusals.refused(), 0);
		}
		assertThat(recorder.missing()).isEqualTo(2_600);
		this.millis += 1_000;
		recorder.write();
		assertThat(messages()).hasSize(2_001).last().asString().contains("\"suppressed\":1000");
	}

	@Test
	void withoutAHistoryThereIsOnlyTheLog() {
		RefusalRecorder recorder = recorder(new RefusalOptions(10, 0, 100, 3, 0, Duration.ofHours(1)));
		recorder.decided(ann(), Refusals.refused(), 0);
		recorder.write();
		assertThat(this.entries).isEmpty();
		assertThat(messages()).hasSize(1);
	}

	@Test
	void whatIsLeftIsWrittenAtTheEnd() {
		RefusalRecorder recorder = recorder(OPTIONS);
		recorder.start();
		recorder.decided(ann(), Refusals.refused(), 0);
		recorder.close();
		assertThat(this.entries).hasSize(1);
		assertThat(messages()).hasSize(1);
	}

	private void turns(RefusalRecorder recorder, int turns) {
		for (int i = 0; i < turns; i++) {
			this.millis += 1_000;
			recorder.write();
		}
	}

	private RefusalRecorder recorder(RefusalOptions options) {
		CallerNames names = new CallerNames((dimension, value) -> "#" + value.length(), 64);
		RefusalHistory history = new RefusalHistory() {

			@Override
			public CompletionStage<Void> add(List<Refusal> refusals) {
				RefusalRecorderTests.this.entries.addAll(refusals);
				return RefusalRecorderTests.this.kept;
			}

			@Override
			public CompletionStage<Page> find(RefusalQuery query) {
				return CompletableFuture.completedStage(new Page(List.of(), null));
			}

			@Override
			public String keeper() {
				return "instance";
			}

		};
		return new RefusalRecorder(options, history, names, "one", (policy) -> Refusals.calm(7),
				() -> Instant.ofEpochMilli(this.millis), () -> this.millis * 1_000_000);
	}

	private List<String> messages() {
		return this.log.lines();
	}

	private static Request ann() {
		return caller("ann");
	}

	private static Request caller(String user) {
		Request request = Request.of("orders")
			.with(Dimension.TENANT, "acme")
			.with(Dimension.USER, user)
			.with(Dimension.IP, "203.0.113.7");
		return new Request(request.policy(), request.dimensions(), request.unverified(), null, 1, 1, null, "trace-1",
				Request.Unresolved.NOTHING);
	}

}
