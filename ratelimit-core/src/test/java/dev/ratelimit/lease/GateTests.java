package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Refill;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.testing.Stages;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests without a lease, and the calls that they make or wait for.
 */
class GateTests {

	private static final Duration DEADLINE = Duration.ofMillis(20);

	private static final Duration PATIENCE = LeaseOptions.DEFAULTS.refresh();

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000_000L);

	private final MemoryCounters store = new MemoryCounters(100, () -> this.now.get() / 1_000, this.now::get);

	private final List<Call> calls = new ArrayList<>();

	private final List<Task> tasks = new ArrayList<>();

	private final LeasedCounters counters = new LeasedCounters(
			new FakeCounters(this.store, (counters, permits, timeout) -> {
				Call call = new Call(counters, permits, timeout, new CompletableFuture<>());
				this.calls.add(call);
				return call.answer;
			}), LeaseOptions.DEFAULTS, () -> 1, (counter) -> true, (permits) -> {
			}, this.now::get, (delay, task) -> this.tasks.add(new Task(this.now.get() + delay.toNanos(), task)));

	private final Counter counter = new Counter(new CounterSpec(Algorithm.GCRA,
			Limit.of("per-user", List.of(Dimension.USER), "100000/m"), Enforcement.LEASED, new LiveWindows()), "ann");

	@Test
	void twoRequestsCallAndTheOthersWait() {
		ask(10, DEADLINE);
		assertThat(this.calls).hasSize(2);
	}

	@Test
	void leaseThatOneOfThemFetchesPaysForAll() {
		List<CompletableFuture<Grant>> asked = ask(10, DEADLINE);
		pass(11);
		this.calls.get(0).answer();
		assertThat(this.calls).hasSize(3);
		assertThat(this.calls.get(2).permits.most()).isGreaterThan(8);
		this.calls.get(2).answer();
		this.calls.get(1).answer();
		assertThat(asked).allSatisfy((grant) -> assertThat(grant.join().permits()).isOne());
		assertThat(asked).filteredOn((grant) -> grant.join().source() == Decision.Source.LEASE).hasSize(7);
		assertThat(this.calls).hasSize(3);
	}

	@Test
	void requestsWaitWithTheTimeThatTheyHaveLeft() {
		ask(3, DEADLINE);
		pass(5);
		this.calls.get(0).answer();
		assertThat(this.calls.get(2).timeout).isEqualTo(DEADLINE.minusMillis(5));
	}

	@Test
	void requestsWithoutALeaseCallTogetherIfNoLeaseIsFetched() {
		ask(10, DEADLINE);
		this.calls.get(0).fail();
		assertThat(this.calls).hasSize(2 + 8);
	}

	@Test
	void onlyAsManyRequestsGoOnWaitingAsRedisHasPermitsFor() {
		Stages.join(this.store.acquire(List.of(this.counter), Permits.exactly(99_995)));
		List<CompletableFuture<Grant>> asked = ask(10, DEADLINE);
		this.calls.get(0).answer();
		assertThat(this.calls).hasSize(2 + 4);
		assertThat(asked.subList(6, 10)).allSatisfy((answer) -> {
			Grant grant = answer.join();
			assertThat(grant.refused()).isTrue();
			assertThat(grant.source()).isEqualTo(Decision.Source.REDIS);
			assertThat(grant.statuses().get(0).remaining()).isZero();
			assertThat(grant.statuses().get(0).retryAfterMicros()).isPositive();
		});
	}

	@Test
	void requestsWhoseTimeIsOverAreNotSent() {
		List<CompletableFuture<Grant>> asked = ask(10, DEADLINE);
		pass(DEADLINE.toMillis());
		this.calls.get(0).fail();
		this.calls.get(1).fail();
		assertThat(this.calls).hasSize(2);
		assertThat(asked.subList(2, 10)).allSatisfy((grant) -> assertThat(grant.join().gaps()).singleElement()
			.satisfies((gap) -> assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.SATURATED)));
	}

	@Test
	void requestThatEndsBeforeTheCallsIsAnsweredByItsDeadline() {
		ask(2, DEADLINE);
		CompletableFuture<Grant> impatient = ask(1, DEADLINE.dividedBy(2)).get(0);
		CompletableFuture<Grant> patient = ask(1, DEADLINE).get(0);
		pass(10);
		assertThat(impatient.join().gaps()).singleElement()
			.satisfies((gap) -> assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.SATURATED));
		assertThat(patient).isNotDone();
		pass(10);
		assertThat(patient).isDone();
		assertThat(this.calls).hasSize(2);
	}

	@Test
	void callThatIsLateIsNotMadeAgainAndItsLeasePaysForLaterRequests() {
		ask(1, DEADLINE);
		this.calls.get(0).answer();
		pass(11);
		List<CompletableFuture<Grant>> first = ask(3, DEADLINE);
		assertThat(this.calls).hasSize(2);
		pass(DEADLINE.toMillis());
		this.calls.get(1).giveUp();
		assertThat(first).allSatisfy((grant) -> assertThat(grant.join().gaps()).singleElement()
			.satisfies((gap) -> assertThat(gap.cause().reason()).isIn(Decision.Reason.TIMEOUT,
					Decision.Reason.SATURATED)));
		List<CompletableFuture<Grant>> next = ask(3, DEADLINE);
		pass(5);
		assertThat(this.calls).hasSize(2);
		this.calls.get(1).answerLate();
		assertThat(next).anySatisfy((grant) -> assertThat(grant.join().source()).isEqualTo(Decision.Source.LEASE));
	}

	@Test
	void requestsThatWaitForALateCallAreToldItsReason() {
		ask(2, DEADLINE);
		pass(1);
		CompletableFuture<Grant> waiting = ask(1, DEADLINE).get(0);
		pass(DEADLINE.toMillis() - 1);
		this.calls.get(0).giveUp();
		pass(1);
		assertThat(waiting.join().gaps()).singleElement()
			.satisfies((gap) -> assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.TIMEOUT));
	}

	@Test
	void callWithoutAnAnswerEndsWithItsPatience() {
		ask(2, DEADLINE);
		pass(DEADLINE.toMillis());
		this.calls.get(0).giveUp();
		this.calls.get(1).giveUp();
		ask(1, DEADLINE);
		assertThat(this.calls).hasSize(2);
		pass(PATIENCE.toMillis());
		ask(1, DEADLINE);
		assertThat(this.calls).hasSize(3);
	}

	@Test
	void requestWaitsForALeaseThatIsBeingFetched() {
		ask(1, DEADLINE);
		this.calls.get(0).answer();
		pass(11);
		ask(1, DEADLINE);
		assertThat(this.calls).hasSize(2);
		CompletableFuture<Grant> waiting = ask(1, DEADLINE).get(0);
		assertThat(this.calls).hasSize(2);
		this.calls.get(1).answer();
		assertThat(waiting.join().source()).isEqualTo(Decision.Source.LEASE);
	}

	@Test
	void requestIsAnsweredByItsDeadlineIfALeaseIsFetchedMeanwhile() {
		List<Counter> both = List.of(this.counter, new Counter(this.counter.spec(), "bob"));
		List<CompletableFuture<Grant>> asked = IntStream.range(0, 3)
			.mapToObj((i) -> this.counters.acquire(both, Permits.exactly(1), DEADLINE))
			.toList();
		assertThat(this.calls).hasSize(2);
		pass(DEADLINE.toMillis());
		this.calls.get(0).fail();
		this.calls.get(1).fail();
		assertThat(asked).allMatch(CompletableFuture::isDone);
	}

	@Test
	void requestThatIsAskedWhileAnAnswerIsHandedOverDoesNotWaitForThatCall() {
		CompletableFuture<Grant> first = ask(1, DEADLINE).get(0);
		List<Integer> callsThen = new ArrayList<>();
		first.thenRun(() -> {
			ask(1, DEADLINE);
			callsThen.add(this.calls.size());
		});
		this.calls.get(0).fail();
		assertThat(callsThen).containsExactly(2);
	}

	@Test
	void callIsNeededByAllThatWaitForIt() {
		List<Refill> refills = new ArrayList<>();
		Counters central = new FakeCounters(this.store, (counters, permits, timeout) -> new CompletableFuture<>()) {

			@Override
			public void refill(List<Counter> counters, Permits permits, Duration timeout, Refill refill,
					Consumer<Grant> answer) {
				refills.add(refill);
			}

		};
		LeasedCounters counters = new LeasedCounters(central, LeaseOptions.DEFAULTS, () -> 1, (counter) -> true,
				(permits) -> {
				}, this.now::get, FakeCounters.NEVER);
		for (int i = 0; i < 10; i++) {
			counters.acquire(List.of(this.counter), Permits.exactly(1), DEADLINE);
		}
		assertThat(refills).hasSize(2).allSatisfy((refill) -> assertThat(refill.waiting()).isEqualTo(8));
	}

	private List<CompletableFuture<Grant>> ask(int requests, Duration timeout) {
		return IntStream.range(0, requests)
			.mapToObj((i) -> this.counters.acquire(List.of(this.counter), Permits.exactly(1), timeout))
			.toList();
	}

	private void pass(long millis) {
		this.now.addAndGet(Duration.ofMillis(millis).toNanos());
		List<Task> due = this.tasks.stream().filter((task) -> task.time <= this.now.get()).toList();
		this.tasks.removeAll(due);
		due.forEach((task) -> task.task.run());
	}

	private record Task(long time, Runnable task) {
	}

	private final class Call {

		private final List<Counter> counters;

		private final Permits permits;

		private final Duration timeout;

		private final CompletableFuture<Grant> answer;

		private final CompletableFuture<Grant> late = new CompletableFuture<>();

		Call(List<Counter> counters, Permits permits, Duration timeout, CompletableFuture<Grant> answer) {
			this.counters = counters;
			this.permits = permits;
			this.timeout = timeout;
			this.answer = answer;
		}

		void answer() {
			Grant grant = GateTests.this.store.acquire(this.counters, this.permits).join();
			this.answer.complete(FakeCounters.asRedis(grant, List.of()));
		}

		/** The deadline has passed, the call goes on. */
		void giveUp() {
			this.answer.complete(Grant.unanswered(this.permits, new Grant.Gap(this.counters,
					new UnansweredException(Decision.Reason.TIMEOUT, "no answer"), this.late)));
		}

		void answerLate() {
			Grant grant = GateTests.this.store.acquire(this.counters, this.permits).join();
			this.late.complete(FakeCounters.asRedis(grant, List.of()));
		}

		void fail() {
			this.answer.complete(Grant.unanswered(this.permits, this.counters,
					new UnansweredException(Decision.Reason.TIMEOUT, "no answer")));
		}

	}

}
