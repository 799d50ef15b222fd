package dev.ratelimit.guard;

import java.time.Duration;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Refill;

import static dev.ratelimit.counter.Grants.unanswered;
import static dev.ratelimit.guard.HandDrivenNodes.counter;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * When the breaker of a node opens by default, and when it tries again.
 */
class BreakerTests {

	private static final Counter TENANT = counter("a/1/tenant");

	private final HandDrivenNodes shards = new HandDrivenNodes();

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final CircuitBreakerRegistry registry = CircuitBreakerRegistry.ofDefaults();

	private final List<Decision.Reason> failures = new CopyOnWriteArrayList<>();

	private final Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, this.registry, List.of(new NodeListener() {

		@Override
		public void failed(String node, Decision.Reason reason) {
			BreakerTests.this.failures.add(reason);
		}

	}));

	private final GuardedCounters counters = new GuardedCounters(this.shards, this.nodes, this.deadlines,
			Duration.ZERO);

	@AfterEach
	void close() {
		this.deadlines.close();
	}

	private int givenUp;

	@Test
	void onePauseThatFewerChecksMissThanAreNeededDoesNotOpenIt() {
		miss(49);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		miss(1);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
	}

	@Test
	void onePauseOfABusyNodeDoesNotOpenItBelowFivePercent() {
		answer(1_000);
		miss(52);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		answer(1);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		miss(1);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
	}

	@Test
	void breakersThatOpenTogetherDoNotTryTogether() {
		long openFor = BreakerOptions.DEFAULTS.openFor().toMillis();
		this.nodes.get("a");
		this.nodes.get("b");
		for (String node : List.of("a", "b")) {
			LongSummaryStatistics waits = IntStream.range(0, 1_000)
				.mapToLong((i) -> waitOf(node).apply(1))
				.summaryStatistics();
			assertThat(waits.getMin()).isBetween(openFor, openFor + openFor / 20);
			assertThat(waits.getMax()).isBetween(openFor + openFor / 7, openFor + openFor / 5);
		}
		assertThat(IntStream.range(0, 100).filter((i) -> waitOf("a").apply(1).equals(waitOf("b").apply(1))).count())
			.isLessThan(10);
	}

	@Test
	void breakerOfANodeThatKeepsNoCountersIsClosed() {
		miss(50);
		this.nodes.keeping(List.of("a", "b"));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN).containsEntry("b", BreakerState.CLOSED);
		this.nodes.keeping(List.of("b"));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		miss(50);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
	}

	@Test
	void leasesThatComeLateDoNotOpenIt() {
		List<CompletableFuture<Grant>> late = refill(100, Duration.ofMinutes(1));
		assertThat(late).allSatisfy((grant) -> assertThat(reason(grant)).isEqualTo(Decision.Reason.TIMEOUT));
		this.shards.calls.forEach((call) -> call.grant(1));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
		assertThat(late)
			.allSatisfy((grant) -> assertThat(unanswered(grant).late()).isCompletedWithValueMatching(Grant::complete));
	}

	@Test
	void leasesThatNeverComeOpenIt() {
		refill(50, Duration.ofMillis(10));
		await().untilAsserted(() -> assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN));
	}

	/** The breaker counts checks, and one call for a lease may answer many. */
	@Test
	void checksThatGaveUpWaitingForALeaseThatNeverComesOpenItToo() {
		this.givenUp = 9;
		refill(5, Duration.ofMillis(10));
		await().untilAsserted(() -> assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN));
	}

	@Test
	void leaseThatComesLateDoesNotCloseItAndTheNextCallTriesAgain() {
		miss(50);
		this.nodes.reconnected("a");
		assertThat(reason(refill(1, Duration.ofMinutes(1)).get(0))).isEqualTo(Decision.Reason.TIMEOUT);
		assertThat(reason(acquire(Duration.ofMinutes(1)))).isEqualTo(Decision.Reason.BREAKER_OPEN);
		this.shards.calls.get(50).grant(1);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.HALF_OPEN);
		answer(1);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
	}

	@Test
	void leaseThatManyChecksWaitedForAndThatNeverComesOpensItAgain() {
		miss(50);
		this.nodes.reconnected("a");
		this.failures.clear();
		this.givenUp = 9;
		refill(1, Duration.ofMillis(10));
		await().untilAsserted(() -> assertThat(this.failures).containsExactly(Decision.Reason.TIMEOUT));
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
	}

	/** Calls that were under way when it opened end while it is tried, or afterwards. */
	@Test
	void callsThatEndAfterTheProbeChangeNothing() {
		List<CompletableFuture<Grant>> underWay = IntStream.range(0, 3)
			.mapToObj((i) -> acquire(Duration.ofMinutes(1)))
			.toList();
		this.shards.failing = Decision.Reason.UNAVAILABLE;
		IntStream.range(0, 50).forEach((i) -> acquire(Duration.ofMinutes(1)));
		this.shards.failing = null;
		this.nodes.reconnected("a");
		this.failures.clear();
		acquire(Duration.ofMinutes(1));
		this.shards.calls.get(53).fail(Decision.Reason.UNAVAILABLE);
		this.shards.calls.get(0).fail(Decision.Reason.UNAVAILABLE);
		this.shards.calls.get(1).fail(Decision.Reason.UNAVAILABLE);
		this.shards.calls.get(2).grant(1);
		assertThat(this.failures).hasSize(3).containsOnly(Decision.Reason.UNAVAILABLE);
		assertThat(underWay).allSatisfy((grant) -> assertThat(grant).isCompleted());
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.OPEN);
	}

	@Test
	void checkThatWasNeverSentIsNoProbe() {
		miss(50);
		this.nodes.reconnected("a");
		this.shards.sends = false;
		assertThat(reason(acquire(Duration.ofMillis(2)))).isEqualTo(Decision.Reason.SATURATED);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.HALF_OPEN);
		this.shards.sends = true;
		answer(1);
		assertThat(this.nodes.states()).containsEntry("a", BreakerState.CLOSED);
	}

	/** Calls for leases that nobody awaits for longer than a moment. */
	private List<CompletableFuture<Grant>> refill(int calls, Duration patience) {
		return IntStream.range(0, calls).mapToObj((i) -> {
			CompletableFuture<Grant> grant = new CompletableFuture<>();
			this.counters.refill(List.of(TENANT), Permits.between(1, 10), Duration.ofMillis(2), refill(patience),
					grant::complete);
			return grant;
		}).toList();
	}

	private Refill refill(Duration patience) {
		return new Refill() {

			@Override
			public Duration patience() {
				return patience;
			}

			@Override
			public int waiting() {
				return 0;
			}

			@Override
			public int takeGivenUp() {
				return BreakerTests.this.givenUp;
			}

		};
	}

	private Function<Integer, Long> waitOf(String node) {
		return this.registry.circuitBreaker("ratelimit-" + node)
			.getCircuitBreakerConfig()
			.getWaitIntervalFunctionInOpenState()::apply;
	}

	private void answer(int checks) {
		for (int i = 0; i < checks; i++) {
			CompletableFuture<Grant> grant = acquire(Duration.ofMinutes(1));
			this.shards.calls.get(this.shards.calls.size() - 1).grant(1);
			assertThat(grant.join().permits()).isOne();
		}
	}

	/** All are under way when the node pauses, and it answers too late. */
	private void miss(int checks) {
		List<CompletableFuture<Grant>> missed = IntStream.range(0, checks)
			.mapToObj((i) -> acquire(Duration.ofMillis(2)))
			.toList();
		assertThat(missed).allSatisfy((grant) -> assertThat(reason(grant)).isEqualTo(Decision.Reason.TIMEOUT));
		this.shards.calls.forEach((call) -> call.grant(1));
	}

	private static Decision.Reason reason(CompletableFuture<Grant> grant) {
		return unanswered(grant).cause().reason();
	}

	private CompletableFuture<Grant> acquire(Duration timeout) {
		return this.counters.acquire(List.of(TENANT), Permits.exactly(1), timeout).toCompletableFuture();
	}

}
