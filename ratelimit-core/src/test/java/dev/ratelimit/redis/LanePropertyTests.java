package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.api.Assertions;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that share calls get what they would have got one by one. A script's part is
 * played by counters in memory, which are held against the scripts elsewhere.
 */
class LanePropertyTests {

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final Deque<Sent> sent = new ArrayDeque<>();

	@Property(tries = 300)
	void sharedCallsDecideLikeSingleOnes(@ForAll Algorithm algorithm, @ForAll long seed,
			@ForAll @IntRange(min = 1, max = 200) int requests) {
		Random random = new Random(seed);
		MemoryCounters together = memory();
		MemoryCounters apart = memory();
		Lane lane = new Lane(false, this::send);
		List<Needed> waiting = new ArrayList<>();
		for (int i = 0; i < requests; i++) {
			Needed request = new Needed(counters(algorithm, random), permits(random), 1 + random.nextInt(3));
			waiting.add(request);
			lane.enter(request);
			if (random.nextInt(20) == 0) {
				this.sent.remove().answer(together);
			}
		}
		while (!this.sent.isEmpty()) {
			this.sent.remove().answer(together);
		}
		for (Needed request : waiting) {
			Grant alone = apart.acquire(request.counters(), request.permits()).toCompletableFuture().join();
			assertThat(request.grant()).isDone();
			assertThat(request.grant().join().permits()).isEqualTo(alone.permits());
			assertThat(request.grant().join().statuses()).isEqualTo(alone.statuses());
		}
	}

	@Property(tries = 1)
	void loneRequestLeavesAtOnceAndWhatComesWhileTwoAreUnderWayLeavesTogether() {
		Lane lane = new Lane(false, this::send);
		List<PendingAcquire> waiting = enter(lane, 12, Duration.ofMinutes(1));
		assertThat(this.sent).hasSize(2);
		MemoryCounters counters = memory();
		this.sent.remove().answer(counters);
		assertThat(this.sent).hasSize(2);
		assertThat(this.sent.peekLast().call().entries()).singleElement()
			.satisfies((entry) -> assertThat(entry.permits()).isEqualTo(new Permits(1, 1, 10)));
		this.sent.remove().answer(counters);
		this.sent.remove().answer(counters);
		assertThat(waiting)
			.allSatisfy((request) -> assertThat(request.grant().join().permits()).isLessThanOrEqualTo(1));
		assertThat(this.sent).isEmpty();
	}

	@Property(tries = 1)
	void requestsOfDifferentSlotsNeverShareACall() {
		Lane lane = new Lane(true, this::send);
		for (int i = 0; i < 20; i++) {
			lane.enter(new PendingAcquire(List.of(counter(Algorithm.GCRA, "key" + i)), Permits.exactly(1), 0,
					Duration.ofMinutes(1)));
		}
		this.sent.remove().answer(memory());
		assertThat(this.sent).hasSize(19).allSatisfy((sent) -> assertThat(sent.call().entries()).hasSize(1));
	}

	@Property(tries = 1)
	void silentNodeHoldsUpNobodyWhoAsksLaterAndGetsNothingThatIsTooLate() {
		AtomicLong ahead = new AtomicLong();
		Lane lane = new Lane(false, this::send, () -> System.nanoTime() + ahead.get());
		List<PendingAcquire> early = enter(lane, 5, Duration.ofMinutes(1));
		assertThat(this.sent).hasSize(2);
		ahead.set(Duration.ofMinutes(2).toNanos());
		PendingAcquire late = enter(lane, 1, Duration.ofMinutes(10)).get(0);
		assertThat(this.sent).hasSize(3);
		this.sent.peekLast().answer(memory());
		assertThat(late.grant().join().permits()).isOne();
		assertThat(early.subList(2, 5)).allSatisfy((request) -> Assertions.assertThatThrownBy(request.grant()::join)
			.hasCauseInstanceOf(UnansweredException.class));
	}

	@Property(tries = 1)
	void requestsOfACallThatCannotBeAnsweredWhileASlotMovesAreSentOneByOne() {
		Lane lane = new Lane(false, this::send);
		List<PendingAcquire> waiting = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			waiting.add(new PendingAcquire(List.of(counter(Algorithm.GCRA, "key" + i)), Permits.exactly(1), 0,
					Duration.ofMinutes(1)));
			lane.enter(waiting.get(i));
		}
		MemoryCounters counters = memory();
		this.sent.remove().answer(counters);
		this.sent.remove().answer(counters);
		this.sent.remove().answer.completeExceptionally(new UnansweredException(Decision.Reason.RESHARDING, "moves"));
		assertThat(this.sent).hasSize(3);
		while (!this.sent.isEmpty()) {
			this.sent.remove().answer(counters);
		}
		assertThat(waiting).allSatisfy((request) -> assertThat(request.grant().join().permits()).isOne());
	}

	private List<PendingAcquire> enter(Lane lane, int number, Duration timeout) {
		List<PendingAcquire> waiting = new ArrayList<>();
		for (int i = 0; i < number; i++) {
			PendingAcquire request = new PendingAcquire(List.of(counter(Algorithm.GCRA, "ann")), Permits.exactly(1), 0,
					timeout);
			waiting.add(request);
			lane.enter(request);
		}
		return waiting;
	}

	private CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
		Sent sent = new Sent(call, new CompletableFuture<>());
		this.sent.add(sent);
		return sent.answer;
	}

	private MemoryCounters memory() {
		return new MemoryCounters(10_000, this.now::get);
	}

	private static List<Counter> counters(Algorithm algorithm, Random random) {
		List<Counter> counters = new ArrayList<>();
		for (String key : List.of("ann", "bob", "acme")) {
			if (random.nextBoolean()) {
				counters.add(counter(algorithm, key));
			}
		}
		return counters.isEmpty() ? List.of(counter(algorithm, "ann")) : counters;
	}

	private static Permits permits(Random random) {
		return switch (random.nextInt(6)) {
			case 0 -> Permits.NONE;
			case 1 -> Permits.exactly(3);
			case 2 -> Permits.between(1, 4);
			default -> Permits.exactly(1);
		};
	}

	private static Counter counter(Algorithm algorithm, String key) {
		return new Counter(Specs.of(algorithm), key);
	}

	/**
	 * The same instance every time, as for the requests of one policy.
	 */
	private static final class Specs {

		private static final List<CounterSpec> ALL = java.util.stream.Stream.of(Algorithm.values())
			.map((algorithm) -> new CounterSpec(algorithm,
					Limit.of("per-user", List.of(Dimension.USER), "20/s", "30/m")))
			.toList();

		static CounterSpec of(Algorithm algorithm) {
			return ALL.get(algorithm.ordinal());
		}

	}

	private record Sent(ScriptCall call, CompletableFuture<List<ScriptCall.Outcome>> answer) {

		void answer(MemoryCounters counters) {
			this.answer.complete(this.call.entries()
				.stream()
				.map((entry) -> counters.acquire(entry.counters(), entry.permits()).toCompletableFuture().join())
				.map((grant) -> new ScriptCall.Outcome(grant.permits(), grant.readings()))
				.toList());
		}

	}

	/**
	 * A call that some requests need, so that it may leave before others.
	 */
	private static final class Needed extends NodeCall {

		private final CompletableFuture<Grant> grant = new CompletableFuture<>();

		private final int need;

		Needed(List<Counter> counters, Permits permits, int need) {
			super(counters, permits, 0, Duration.ofMinutes(1));
			this.need = need;
		}

		CompletableFuture<Grant> grant() {
			return this.grant;
		}

		@Override
		public int need() {
			return this.need;
		}

		@Override
		public void answered(Grant grant) {
			this.grant.complete(grant);
		}

		@Override
		public void failed(UnansweredException failure) {
			this.grant.completeExceptionally(failure);
		}

	}

}
