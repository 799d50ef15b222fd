package dev.ratelimit.redis;

import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What goes wrong on the way to a node, and which requests leave together.
 */
class LaneTests {

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.USER), "100/d");

	private final Deque<Sent> sent = new ArrayDeque<>();

	@Test
	void throwableWhileACallIsSentFailsItsRequests() {
		Lane lane = new Lane(false, (call) -> {
			throw new StackOverflowError("too deep");
		});
		PendingAcquire request = enter(lane, Algorithm.GCRA, "ann");
		assertThat(reason(request)).isEqualTo(Decision.Reason.INTERNAL);
	}

	@Test
	void laneWorksOnAfterAThrowableWhileACallWasSent() {
		List<Integer> calls = new ArrayList<>();
		Lane lane = new Lane(false, (call) -> {
			calls.add(1);
			if (calls.size() == 1) {
				throw new IllegalStateException("closed");
			}
			return send(call);
		});
		enter(lane, Algorithm.GCRA, "ann");
		PendingAcquire next = enter(lane, Algorithm.GCRA, "ann");
		this.sent.remove().grant();
		assertThat(next.grant().join().permits()).isOne();
	}

	@Test
	void callThatCannotBeSentFailsNoOtherOfItsRound() {
		Lane lane = new Lane(true, (call) -> {
			if (call.counter().key().equals("3")) {
				throw new IllegalStateException("closed");
			}
			return send(call);
		});
		List<PendingAcquire> requests = IntStream.range(0, 6)
			.mapToObj((i) -> enter(lane, Algorithm.GCRA, String.valueOf(i)))
			.toList();
		answerAll();
		assertThat(reason(requests.get(3))).isEqualTo(Decision.Reason.INTERNAL);
		assertThat(IntStream.of(0, 1, 2, 4, 5).mapToObj(requests::get))
			.allSatisfy((request) -> assertThat(request.grant().join().permits()).isOne());
	}

	@Test
	void throwableWhileCallsAreSentTogetherFailsAllTheirRequests() {
		Lane lane = new Lane(true, new CallSender() {

			@Override
			public CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
				return LaneTests.this.send(call);
			}

			@Override
			public List<CompletionStage<List<ScriptCall.Outcome>>> send(List<ScriptCall> calls) {
				throw new IllegalStateException("closed");
			}

		});
		List<PendingAcquire> requests = IntStream.range(0, 6)
			.mapToObj((i) -> enter(lane, Algorithm.GCRA, String.valueOf(i)))
			.toList();
		answerAll();
		assertThat(requests.subList(2, 6))
			.allSatisfy((request) -> assertThat(reason(request)).isEqualTo(Decision.Reason.INTERNAL));
		PendingAcquire next = enter(lane, Algorithm.GCRA, "ann");
		answerAll();
		assertThat(next.grant().join().permits()).isOne();
	}

	@Test
	void requestThatMayBeSentAgainHasACallOfItsOwnInItsPlace() {
		List<Class<?>> calls = new ArrayList<>();
		Lane lane = new Lane(false, (call) -> {
			calls.add(call.getClass());
			return send(call);
		});
		Attempt attempt = new Attempt("a", 1_000_000, 3);
		List<Counter> ann = List.of(new Counter(new CounterSpec(Algorithm.GCRA, PER_USER), "ann"));
		lane.enter(Stream
			.of(Optional.<Attempt>empty(), Optional.of(attempt), Optional.of(attempt), Optional.<Attempt>empty(),
					Optional.<Attempt>empty())
			.map((known) -> (NodeCall) new PendingAcquire(ann, Permits.exactly(1), 0, known.orElse(null),
					Duration.ofMinutes(1)))
			.toList());
		assertThat(calls).containsExactly(ScriptCall.class, AttemptCall.class, AttemptCall.class, ScriptCall.class);
	}

	@Test
	void requestsOfOneReplyShareTheTimeOfTheReply() {
		Lane lane = new Lane(false, this::send);
		List<PendingAcquire> requests = IntStream.range(0, 6)
			.mapToObj((i) -> enter(lane, Algorithm.GCRA, "ann"))
			.toList();
		long before = System.nanoTime();
		answerAll();
		List<Long> replied = requests.subList(2, 6).stream().map(PendingAcquire::replied).distinct().toList();
		assertThat(replied).hasSize(1).allSatisfy((time) -> assertThat(time).isBetween(before, System.nanoTime()));
	}

	@Test
	void callsOfARoundAreHandedOverTogether() {
		List<Integer> together = new ArrayList<>();
		Lane lane = new Lane(true, new CallSender() {

			@Override
			public CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
				return LaneTests.this.send(call);
			}

			@Override
			public List<CompletionStage<List<ScriptCall.Outcome>>> send(List<ScriptCall> calls) {
				together.add(calls.size());
				return CallSender.super.send(calls);
			}

		});
		IntStream.range(0, 30).forEach((i) -> enter(lane, Algorithm.GCRA, String.valueOf(i)));
		answerAll();
		assertThat(together).containsExactly(28);
	}

	@Test
	void requestWhoseSlotCannotBeFoundFailsAlone() {
		Lane lane = new Lane(true, this::send);
		PendingAcquire broken = new PendingAcquire(new AbstractList<>() {

			@Override
			public Counter get(int index) {
				throw new IllegalStateException("no slot");
			}

			@Override
			public int size() {
				return 1;
			}

		}, Permits.exactly(1), 0, Duration.ofMinutes(1));
		List<PendingAcquire> requests = new ArrayList<>();
		IntStream.range(0, 3).forEach((i) -> requests.add(enter(lane, Algorithm.GCRA, "ann")));
		lane.enter(broken);
		requests.add(broken);
		requests.add(enter(lane, Algorithm.GCRA, "bob"));
		answerAll();
		assertThat(reason(requests.get(3))).isEqualTo(Decision.Reason.INTERNAL);
		assertThat(IntStream.of(0, 1, 2, 4).mapToObj(requests::get))
			.allSatisfy((request) -> assertThat(request.grant().join().permits()).isOne());
	}

	@Test
	void requestWithMoreCountersThanACallHasFailsAlone() {
		Lane lane = new Lane(false, this::send);
		PendingAcquire before = enter(lane, Algorithm.GCRA, "ann");
		PendingAcquire tooLarge = new PendingAcquire(
				IntStream.range(0, 256).mapToObj((i) -> counter(Algorithm.GCRA, "k" + i)).toList(), Permits.exactly(1),
				0, Duration.ofMinutes(1));
		lane.enter(tooLarge);
		PendingAcquire after = enter(lane, Algorithm.GCRA, "ann");
		answerAll();
		assertThat(reason(tooLarge)).isEqualTo(Decision.Reason.INTERNAL);
		assertThat(before.grant().join().permits()).isOne();
		assertThat(after.grant().join().permits()).isOne();
	}

	@Test
	void replyThatLacksAnOutcomeFailsAllRequestsThatHaveNone() {
		Lane lane = new Lane(false, this::send);
		List<PendingAcquire> requests = IntStream.range(0, 5)
			.mapToObj((i) -> enter(lane, Algorithm.GCRA, String.valueOf(i)))
			.toList();
		this.sent.remove().grant();
		this.sent.remove().grant();
		Sent shared = this.sent.remove();
		shared.answer.complete(shared.outcomes().subList(0, 1));
		assertThat(requests).allSatisfy((request) -> assertThat(request.grant()).isDone());
		assertThat(reason(requests.get(4))).isEqualTo(Decision.Reason.INTERNAL);
	}

	@Test
	void requestsThatCannotBeSentOneByOneWhileASlotMovesFail() {
		List<Integer> calls = new ArrayList<>();
		Lane lane = new Lane(false, (call) -> {
			calls.add(1);
			if (calls.size() > 3) {
				throw new IllegalStateException("closed");
			}
			return send(call);
		});
		List<PendingAcquire> requests = IntStream.range(0, 5)
			.mapToObj((i) -> enter(lane, Algorithm.GCRA, String.valueOf(i)))
			.toList();
		this.sent.remove().grant();
		this.sent.remove().grant();
		this.sent.remove().answer.completeExceptionally(new UnansweredException(Decision.Reason.RESHARDING, "moves"));
		assertThat(requests.subList(2, 5))
			.allSatisfy((request) -> assertThat(reason(request)).isEqualTo(Decision.Reason.INTERNAL));
	}

	@Test
	void receiverThatThrowsWhenItsCallFailsHoldsUpNoOther() {
		List<ScriptCall> calls = new ArrayList<>();
		Lane lane = new Lane(false, (call) -> {
			calls.add(call);
			return send(call);
		});
		List<PendingAcquire> first = List.of(enter(lane, Algorithm.GCRA, "0"), enter(lane, Algorithm.GCRA, "1"));
		lane.enter(throwing("ann", Duration.ofMinutes(1)));
		PendingAcquire behind = enter(lane, Algorithm.GCRA, "bob");
		first.forEach((request) -> this.sent.remove().grant());
		assertThat(calls).hasSize(3);
		this.sent.remove().answer.completeExceptionally(new IllegalStateException("closed"));
		assertThat(reason(behind)).isEqualTo(Decision.Reason.INTERNAL);
		PendingAcquire next = enter(lane, Algorithm.GCRA, "bob");
		answerAll();
		assertThat(next.grant().join().permits()).isOne();
		assertThat(lane.isIdle()).isTrue();
	}

	@Test
	void receiverThatThrowsWhenItsCallIsTooLateToBeSentHoldsUpNoOther() {
		Lane lane = new Lane(false, this::send);
		enter(lane, Algorithm.GCRA, "0");
		enter(lane, Algorithm.GCRA, "1");
		lane.enter(throwing("ann", Duration.ZERO));
		PendingAcquire behind = enter(lane, Algorithm.GCRA, "bob");
		answerAll();
		assertThat(behind.grant().join().permits()).isOne();
		PendingAcquire next = enter(lane, Algorithm.GCRA, "bob");
		answerAll();
		assertThat(next.grant().join().permits()).isOne();
	}

	@Test
	void algorithmsThatTakeTurnsShareACallEach() {
		Lane lane = new Lane(false, this::send);
		enter(lane, Algorithm.GCRA, "first");
		enter(lane, Algorithm.GCRA, "second");
		for (int i = 0; i < 10; i++) {
			enter(lane, Algorithm.GCRA, "ann" + i);
			enter(lane, Algorithm.FIXED_WINDOW, "ann" + i);
			enter(lane, Algorithm.TOKEN_BUCKET, "ann" + i);
		}
		this.sent.remove().grant();
		this.sent.remove();
		assertThat(this.sent).extracting((sent) -> sent.call.entries().size()).containsExactly(10, 10, 10);
	}

	@Test
	void requestsOfOneCounterLeaveInTheOrderOfTheirArrivalAlsoBetweenOtherAlgorithms() {
		Lane lane = new Lane(false, this::send);
		enter(lane, Algorithm.GCRA, "first");
		enter(lane, Algorithm.GCRA, "second");
		for (int cost = 1; cost <= 200; cost++) {
			enter(lane, Algorithm.GCRA, "ann", cost);
			enter(lane, Algorithm.FIXED_WINDOW, "ann", cost);
		}
		this.sent.remove().grant();
		this.sent.remove();
		List<Sent> left = new ArrayList<>();
		while (!this.sent.isEmpty()) {
			left.add(this.sent.peek());
			this.sent.remove().grant();
		}
		for (Algorithm algorithm : List.of(Algorithm.GCRA, Algorithm.FIXED_WINDOW)) {
			assertThat(left.stream()
				.filter((sent) -> sent.call.counter().spec().algorithm() == algorithm)
				.flatMap((sent) -> sent.call.entries().stream())
				.map((entry) -> (int) entry.permits().most()))
				.isEqualTo(IntStream.rangeClosed(1, 200).boxed().toList());
		}
	}

	@Test
	void countersOfOneNameAndDifferentAlgorithmsAreDifferentCounters() {
		CounterKeys keys = new CounterKeys("rl");
		Counter gcra = new Counter(new CounterSpec(Algorithm.GCRA, PER_USER), keys, "orders", List.of("ann"));
		Counter window = new Counter(new CounterSpec(Algorithm.FIXED_WINDOW, PER_USER), keys, "orders", List.of("ann"));
		assertThat(gcra).isNotEqualTo(window);
		assertThat(gcra.key()).isNotEqualTo(window.key());
	}

	private PendingAcquire enter(Lane lane, Algorithm algorithm, String key) {
		return enter(lane, algorithm, key, 1);
	}

	private PendingAcquire enter(Lane lane, Algorithm algorithm, String key, long cost) {
		PendingAcquire request = new PendingAcquire(List.of(counter(algorithm, key)), Permits.exactly(cost), 0,
				Duration.ofMinutes(1));
		lane.enter(request);
		return request;
	}

	private CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
		Sent sent = new Sent(call, new CompletableFuture<>());
		this.sent.add(sent);
		return sent.answer;
	}

	private static NodeCall throwing(String key, Duration timeout) {
		return new NodeCall(List.of(counter(Algorithm.GCRA, key)), Permits.exactly(1), 0, timeout) {

			@Override
			public void answered(Grant grant) {
				throw new IllegalStateException("answered");
			}

			@Override
			public void failed(UnansweredException failure) {
				throw new IllegalStateException("failed");
			}

		};
	}

	private void answerAll() {
		while (!this.sent.isEmpty()) {
			this.sent.remove().grant();
		}
	}

	private static Counter counter(Algorithm algorithm, String key) {
		return new Counter(new CounterSpec(algorithm, PER_USER), key);
	}

	private static Decision.Reason reason(PendingAcquire request) {
		assertThat(request.grant()).isCompletedExceptionally();
		return UnansweredException.of(request.grant().handle((grant, failure) -> failure).join()).reason();
	}

	private record Sent(ScriptCall call, CompletableFuture<List<ScriptCall.Outcome>> answer) {

		void grant() {
			this.answer.complete(outcomes());
		}

		List<ScriptCall.Outcome> outcomes() {
			return this.call.entries()
				.stream()
				.map((entry) -> new ScriptCall.Outcome(entry.permits().most(),
						entry.counters().stream().map((counter) -> new Reading(counter, new long[0], 1)).toList()))
				.toList();
		}

	}

}
