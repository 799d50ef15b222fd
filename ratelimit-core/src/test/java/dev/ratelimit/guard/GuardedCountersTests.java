package dev.ratelimit.guard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.PolicyRateLimiter;

import static dev.ratelimit.counter.Grants.answered;
import static dev.ratelimit.counter.Grants.unanswered;
import static dev.ratelimit.guard.HandDrivenNodes.counter;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class GuardedCountersTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final Counter TENANT = counter("a/1/tenant");

	private static final Counter USER = counter("a/1/user");

	private static final Counter IP = counter("b/2/ip");

	private final HandDrivenNodes shards = new HandDrivenNodes();

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final ConcurrentLinkedQueue<String> news = new ConcurrentLinkedQueue<>();

	private final Nodes nodes = nodes(Duration.ofMinutes(1));

	private final GuardedCounters counters = new GuardedCounters(this.shards, this.nodes, this.deadlines,
			Duration.ZERO);

	@AfterEach
	void close() {
		this.deadlines.close();
	}

	@Test
	void answerInTimeIsHandedOn() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT, USER);
		this.shards.calls.get(0).grant(1);
		assertThat(grant.join().permits()).isOne();
		assertThat(grant.join().complete()).isTrue();
	}

	@Test
	void silenceIsATimeoutWhoseAnswerMayStillBeHad() {
		CompletableFuture<Grant> grant = acquire(Duration.ofMillis(5), TENANT);
		Grant.Gap gap = unanswered(grant);
		assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.TIMEOUT);
		assertThat(gap.late().toCompletableFuture()).isNotDone();
		this.shards.calls.get(0).grant(1);
		assertThat(gap.late().toCompletableFuture().join().permits()).isOne();
	}

	@Test
	void oneSickSlotIsAGapBesideTheHealthyOne() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT, IP);
		this.shards.calls.get(0).grant(1);
		this.shards.calls.get(1).fail(Decision.Reason.LOADING);
		assertThat(grant.join().readings()).extracting(Reading::counter).containsExactly(TENANT);
		assertThat(grant.join().gaps()).singleElement().satisfies((gap) -> {
			assertThat(gap.counters()).containsExactly(IP);
			assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.LOADING);
		});
		assertThat(grant.join().refused()).isFalse();
		assertThat(this.shards.givenBack).isEmpty();
	}

	@Test
	void healthySlotThatRefusesStillRefusesBesideASickOne() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT, IP);
		this.shards.calls.get(0).grant(0);
		this.shards.calls.get(1).fail(Decision.Reason.UNAVAILABLE);
		assertThat(grant.join().refused()).isTrue();
	}

	@Test
	void refusalOfOneSlotGivesBackToTheOther() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT, IP);
		this.shards.calls.get(0).grant(1);
		this.shards.calls.get(1).grant(0);
		assertThat(grant.join().refused()).isTrue();
		assertThat(this.shards.givenBack).containsExactly(TENANT.key() + " 1");
	}

	@Test
	void refusalHasTheNodeThatRefused() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT, IP);
		this.shards.calls.get(0).grant(1);
		this.shards.calls.get(1).grant(0);
		assertThat(grant.join().node()).isEqualTo(this.shards.node(IP));
	}

	@Test
	void gapHasTheNodeThatDidNotAnswer() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT, IP);
		this.shards.calls.get(0).grant(1);
		this.shards.calls.get(1).fail(Decision.Reason.LOADING);
		assertThat(grant.join().node()).isNull();
		assertThat(grant.join().gaps().get(0).cause().node()).isEqualTo(this.shards.node(IP));
	}

	@Test
	void breakerOpensAfterFiftyFailuresAndOnlyForItsNode() {
		failFiftyTimes(Decision.Reason.UNAVAILABLE);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
		int before = this.shards.calls.size();
		assertThat(failure(acquire(LONG, TENANT)).reason()).isEqualTo(Decision.Reason.BREAKER_OPEN);
		assertThat(this.shards.calls).hasSize(before);
		CompletableFuture<Grant> other = acquire(LONG, IP);
		this.shards.calls.get(before).grant(1);
		assertThat(answered(other).permits()).isOne();
		assertThat(this.news).contains("a open");
	}

	@Test
	void breakerWithTheShortestWindowOpens() {
		Nodes nodes = new Nodes(new BreakerOptions(5, Duration.ofSeconds(2), 50, Duration.ofSeconds(5)),
				CircuitBreakerRegistry.ofDefaults(), List.of());
		GuardedCounters counters = new GuardedCounters(this.shards, nodes, this.deadlines, Duration.ZERO);
		this.shards.failing = Decision.Reason.UNAVAILABLE;
		await().atMost(Duration.ofSeconds(5)).until(() -> {
			IntStream.range(0, 50).forEach((i) -> counters.acquire(List.of(TENANT), Permits.exactly(1)));
			return nodes.states().get("a") == BreakerState.OPEN;
		});
	}

	@Test
	void strangeValuesAndMovingSlotsAreNotTheNodesFault() {
		failFiftyTimes(Decision.Reason.CORRUPT);
		failFiftyTimes(Decision.Reason.RESHARDING);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
	}

	@Test
	void reconnectLetsOneProbeThroughWhichClosesTheBreaker() {
		failFiftyTimes(Decision.Reason.TIMEOUT);
		this.nodes.reconnected("a");
		CompletableFuture<Grant> probe = acquire(LONG, TENANT);
		assertThat(failure(acquire(LONG, TENANT)).reason()).isEqualTo(Decision.Reason.BREAKER_OPEN);
		this.shards.calls.get(this.shards.calls.size() - 1).grant(1);
		assertThat(answered(probe).permits()).isOne();
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		assertThat(this.news).containsSubsequence("a open", "a half-open", "a closed");
	}

	@Test
	void openBreakerTriesByItselfAfterAWhile() {
		Nodes nodes = nodes(Duration.ofMillis(50));
		GuardedCounters counters = new GuardedCounters(this.shards, nodes, this.deadlines, Duration.ZERO);
		this.shards.failing = Decision.Reason.UNAVAILABLE;
		IntStream.range(0, 50).forEach((i) -> counters.acquire(List.of(TENANT), Permits.exactly(1)));
		assertThat(nodes.states()).containsEntry("a", BreakerState.OPEN);
		int before = this.shards.calls.size();
		await().atMost(Duration.ofSeconds(5)).until(() -> {
			counters.acquire(List.of(TENANT), Permits.exactly(1));
			return this.shards.calls.size() > before;
		});
	}

	@Test
	void placeInFlightIsFreedAtTheDeadline() {
		List<CompletableFuture<Grant>> waiting = new ArrayList<>();
		IntStream.range(0, 10_000).forEach((i) -> waiting.add(acquire(LONG, counter("c/3/x"))));
		assertThat(failure(acquire(LONG, counter("c/3/x"))).reason()).isEqualTo(Decision.Reason.SATURATED);
		List<CompletableFuture<Grant>> brief = IntStream.range(0, 10_000)
			.mapToObj((i) -> acquire(Duration.ofMillis(20), counter("d/4/x")))
			.toList();
		await().atMost(Duration.ofSeconds(10)).until(() -> brief.stream().allMatch(CompletableFuture::isDone));
		assertThat(this.nodes.get("d").enter()).isNotSameAs(null)
			.isInstanceOfSatisfying(UnansweredException.class,
					(open) -> assertThat(open.reason()).isEqualTo(Decision.Reason.BREAKER_OPEN));
		this.nodes.reconnected("d");
		assertThat(this.nodes.get("d").enter()).isNull();
	}

	@Test
	void deadlineThatACheckShortensDoesNotCountAgainstTheNode() {
		missShortDeadlines(judgedAfter(LONG), 200);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		this.shards.calls.forEach((call) -> call.grant(1));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
	}

	@Test
	void answerAfterTheChecksDeadlineAndBeforeTheNodesIsASuccessOfTheNode() {
		missShortDeadlines(judgedAfter(LONG), 25);
		this.shards.calls.forEach((call) -> call.grant(1));
		assertThat(this.news.stream().filter("a answered"::equals)).hasSize(25);
	}

	@Test
	void errorAfterTheChecksDeadlineCountsAgainstTheNode() {
		missShortDeadlines(judgedAfter(LONG), 50);
		this.shards.calls.forEach((call) -> call.fail(Decision.Reason.UNAVAILABLE));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
	}

	@Test
	void nodeThatMissesItsOwnDeadlineIsFoundOutByChecksWithShorterOnes() {
		GuardedCounters counters = judgedAfter(Duration.ofMillis(50));
		missShortDeadlines(counters, 50);
		await().atMost(Duration.ofSeconds(5))
			.untilAsserted(() -> assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN));
	}

	@Test
	void checkThatWasNeverSentDoesNotCountAgainstTheNode() {
		GuardedCounters counters = judgedAfter(LONG);
		this.shards.failing = Decision.Reason.TIMEOUT;
		IntStream.range(0, 100).forEach((i) -> counters.acquire(List.of(TENANT), Permits.exactly(1), LONG));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
	}

	@Test
	void checkThatWaitsToBeSentUntilItsDeadlineIsSaturated() {
		this.shards.sends = false;
		Grant.Gap gap = unanswered(acquire(Duration.ofMillis(5), TENANT));
		assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.SATURATED);
		assertThat(gap.cause().node()).isEqualTo("a");
		this.shards.calls.get(0).grant(1);
		assertThat(gap.late().toCompletableFuture().join().permits()).isOne();
	}

	@Test
	void checksThatWereNotSentDoNotCountWhileTheNodeAnswersOthers() {
		Duration timeout = Duration.ofSeconds(1);
		CompletableFuture<Grant> answered = acquire(timeout, TENANT);
		this.shards.calls.get(0).grant(1);
		assertThat(answered(answered).permits()).isOne();
		this.shards.sends = false;
		assertThat(checks(256, timeout)).containsOnly(Decision.Reason.SATURATED);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		assertThat(this.news.stream().filter("a failed saturated"::equals)).hasSize(256);
	}

	@Test
	void checksThatWereNotSentCountIfTheNodeAnswersNoOthers() {
		this.shards.sends = false;
		assertThat(checks(50, Duration.ofMillis(5))).containsOnly(Decision.Reason.SATURATED);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
	}

	@Test
	void checksWithShortDeadlinesThatWereNotSentCountAtTheNodesDeadline() {
		GuardedCounters counters = judgedAfter(Duration.ofMillis(50));
		this.shards.sends = false;
		List<CompletableFuture<Grant>> checks = IntStream.range(0, 50)
			.mapToObj((i) -> counters.acquire(List.of(TENANT), Permits.exactly(1), Duration.ofMillis(1)))
			.toList();
		assertThat(checks)
			.allSatisfy((grant) -> assertThat(failure(grant).reason()).isEqualTo(Decision.Reason.SATURATED));
		await().untilAsserted(() -> assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN));
	}

	@Test
	void callerWhoseAnswerCannotBeUsedGetsAGap() {
		List<Grant> answers = new ArrayList<>();
		this.counters.acquire(List.of(TENANT), Permits.exactly(1), null, LONG, (grant) -> {
			answers.add(grant);
			if (grant.complete()) {
				throw new LinkageError("provoked");
			}
		});
		CompletableFuture<Grant> neighbour = acquire(LONG, TENANT);
		this.shards.calls.forEach((call) -> call.grant(1));
		assertThat(answers).hasSize(2);
		assertThat(answers.get(1).gaps().get(0).cause().reason()).isEqualTo(Decision.Reason.INTERNAL);
		assertThat(answered(neighbour).permits()).isOne();
	}

	@Test
	void callerOfSeveralSlotsWhoseAnswerCannotBeUsedGetsAGap() {
		List<Grant> answers = new ArrayList<>();
		this.counters.acquire(List.of(TENANT, IP), Permits.exactly(1), null, LONG, (grant) -> {
			answers.add(grant);
			if (grant.complete()) {
				throw new IllegalStateException("provoked");
			}
		});
		this.shards.calls.forEach((call) -> call.grant(1));
		assertThat(answers).hasSize(2);
		assertThat(answers.get(1).complete()).isFalse();
	}

	@Test
	void answersToCallsOfLongAgoDoNotSpareTheNode() {
		acquire(LONG, TENANT);
		this.shards.calls.get(0).grant(1);
		this.shards.sends = false;
		await().until(() -> {
			checks(50, Duration.ofMillis(5));
			return this.nodes.states().get("a") == BreakerState.OPEN;
		});
	}

	@Test
	void callThatWasSentLateIsJudgedByTheTimeThatTheNodeHad() {
		Duration timeout = Duration.ofMillis(50);
		GuardedCounters counters = judgedAfter(LONG);
		this.shards.sends = false;
		List<CompletableFuture<Grant>> checks = IntStream.range(0, 100)
			.mapToObj((i) -> counters.acquire(List.of(TENANT), Permits.exactly(1), timeout))
			.toList();
		this.shards.calls.forEach((call) -> call.asked().sent(System.nanoTime()));
		assertThat(checks).allSatisfy((grant) -> assertThat(unanswered(grant)).isNotNull());
		this.shards.calls.forEach((call) -> call.grant(1));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		assertThat(this.news.stream().filter("a answered"::equals)).hasSize(100);
	}

	@Test
	void placeOfACheckWithAShortDeadlineIsFreedAtThatDeadline() {
		GuardedCounters counters = judgedAfter(LONG);
		missShortDeadlines(counters, 10_000);
		CompletableFuture<Grant> next = counters.acquire(List.of(TENANT), Permits.exactly(1), LONG)
			.toCompletableFuture();
		this.shards.calls.get(this.shards.calls.size() - 1).grant(1);
		assertThat(answered(next).permits()).isOne();
	}

	@Test
	void movingSlotIsAskedForEachOfItsCountersByItself() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT, USER);
		this.shards.calls.get(0).fail(Decision.Reason.RESHARDING);
		assertThat(this.shards.calls).hasSize(3);
		this.shards.calls.get(1).grant(1);
		this.shards.calls.get(2).grant(0);
		assertThat(grant.join().refused()).isTrue();
		assertThat(this.shards.givenBack).containsExactly(TENANT.key() + " 1");
	}

	@Test
	void giveBackToANodeThatIsNotAskedIsLostAndTold() {
		CompletableFuture<Grant> grant = acquire(LONG, TENANT);
		this.shards.calls.get(0).grant(1);
		failFiftyTimes(Decision.Reason.UNAVAILABLE);
		this.counters.giveBack(grant.join(), 1);
		assertThat(this.shards.givenBack).isEmpty();
		assertThat(this.news).contains("a lost");
	}

	@Test
	void nodeThatHasLeftIsForgotten() {
		acquire(LONG, TENANT);
		acquire(LONG, IP);
		this.nodes.retain(List.of("b"));
		assertThat(this.nodes.states()).containsOnlyKeys("b");
		assertThat(this.news).contains("a left");
	}

	/** Such as gRPC calls of trusted peers with short deadlines. */
	@Test
	void callersThatWaitNoLongerDoNotOpenTheBreaker() {
		FakeCounters store = new FakeCounters(this.counters,
				(counters, permits, timeout) -> this.counters.acquire(List.of(TENANT), permits, timeout));
		Policy policy = Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "10/m")
			.timeout(LONG)
			.build();
		PolicyRateLimiter limiter = RateLimiterBuilder.on(store)
			.policies(policy)
			.fallback(Fallback.to(this.counters))
			.build();
		for (int i = 0; i < 200; i++) {
			CompletableFuture<Void> end = new CompletableFuture<>();
			CompletableFuture<Decision> decision = limiter
				.checkUntil(Request.of("orders").with(Dimension.USER, "ann"), end)
				.toCompletableFuture();
			end.complete(null);
			assertThat(decision.join().reason()).isEqualTo(Decision.Reason.NOT_AWAITED);
		}
		assertThat(this.news).containsExactly("a closed");
		this.shards.calls.forEach((call) -> call.grant(1));
		assertThat(this.news).containsOnly("a closed", "a answered");
		acquire(LONG, TENANT);
		assertThat(this.shards.calls).hasSize(201);
	}

	private GuardedCounters judgedAfter(Duration nodeTimeout) {
		return new GuardedCounters(this.shards, this.nodes, this.deadlines, nodeTimeout);
	}

	private static void missShortDeadlines(GuardedCounters counters, int checks) {
		List<CompletableFuture<Grant>> missed = IntStream.range(0, checks)
			.mapToObj((i) -> counters.acquire(List.of(TENANT), Permits.exactly(1), Duration.ofMillis(1))
				.toCompletableFuture())
			.toList();
		assertThat(missed)
			.allSatisfy((grant) -> assertThat(failure(grant).reason()).isEqualTo(Decision.Reason.TIMEOUT));
	}

	private List<Decision.Reason> checks(int count, Duration timeout) {
		return IntStream.range(0, count)
			.mapToObj((i) -> acquire(timeout, TENANT))
			.toList()
			.stream()
			.map((grant) -> failure(grant).reason())
			.toList();
	}

	private void failFiftyTimes(Decision.Reason reason) {
		this.shards.failing = reason;
		IntStream.range(0, 50).forEach((i) -> acquire(LONG, TENANT));
		this.shards.failing = null;
	}

	private CompletableFuture<Grant> acquire(Duration timeout, Counter... counters) {
		return this.counters.acquire(List.of(counters), Permits.exactly(1), timeout).toCompletableFuture();
	}

	private static UnansweredException failure(CompletableFuture<Grant> grant) {
		return unanswered(grant).cause();
	}

	private Nodes nodes(Duration openFor) {
		return new Nodes(new BreakerOptions(5, Duration.ofSeconds(10), 50, openFor),
				CircuitBreakerRegistry.ofDefaults(), List.of(new NodeListener() {

					@Override
					public void answered(String node, long nanos, long skewMicros) {
						GuardedCountersTests.this.news.add(node + " answered");
					}

					@Override
					public void failed(String node, Decision.Reason reason) {
						GuardedCountersTests.this.news.add(node + " failed " + reason.text());
					}

					@Override
					public void giveBackLost(String node) {
						GuardedCountersTests.this.news.add(node + " lost");
					}

					@Override
					public void changed(String node, BreakerState state) {
						GuardedCountersTests.this.news.add(node + " " + state.text());
					}

					@Override
					public void left(String node) {
						GuardedCountersTests.this.news.add(node + " left");
					}

				}));
	}

}
