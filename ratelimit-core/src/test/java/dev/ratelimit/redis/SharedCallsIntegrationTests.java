package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that share script calls get what they would have got one by one, in the order
 * of their arrival: through the real scripts, with callers that have different quotas on
 * the same counters, costs up to the burst, several algorithms at once, and every way of
 * sharing calls. What each would have got alone is told by the counters in memory, which
 * {@code ReferenceModelPropertyTests} holds against a model of the algorithms.
 */
class SharedCallsIntegrationTests {

	private static final Map<Algorithm, List<CounterSpec>> CALLERS = new EnumMap<>(Algorithm.class);
	static {
		for (Algorithm algorithm : Algorithm.values()) {
			String large = algorithm.hasBurst() ? "20/s burst 100" : "100/s";
			CALLERS.put(algorithm,
					callers(algorithm, List.of(List.of("20/s", "30/m"), List.of(large), List.of("7/s", "40/d"))));
		}
	}

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final Deque<Sent> sent = new ArrayDeque<>();

	@Property(tries = 150)
	void requestsThatShareCallsAreDecidedLikeSingleOnes(@ForAll long seed,
			@ForAll @IntRange(min = 1, max = 150) int requests) {
		Random random = new Random(seed);
		RedisCounters scripts = Connections.standalone().at(this.now::get);
		MemoryCounters alone = new MemoryCounters(10_000, this.now::get);
		for (int step = 0; step < 3; step++) {
			Lane lane = new Lane(false, this::send);
			List<PendingAcquire> waiting = new ArrayList<>();
			for (int i = 0; i < requests; i++) {
				PendingAcquire request = new PendingAcquire(counters(random), permits(random), 0,
						Duration.ofMinutes(1));
				waiting.add(request);
				lane.enter(request);
				if (random.nextInt(20) == 0 && !this.sent.isEmpty()) {
					this.sent.remove().answerBy(scripts);
				}
			}
			while (!this.sent.isEmpty()) {
				this.sent.remove().answerBy(scripts);
			}
			for (PendingAcquire request : waiting) {
				Grant single = alone.acquire(request.counters(), request.permits()).toCompletableFuture().join();
				assertThat(request.grant().join().permits()).isEqualTo(single.permits());
				assertThat(request.grant().join().statuses()).isEqualTo(single.statuses());
			}
			this.now.addAndGet(random.nextInt(5_000_000));
		}
	}

	private CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
		Sent sent = new Sent(call, new CompletableFuture<>());
		this.sent.add(sent);
		return sent.answer;
	}

	/** Of one algorithm, as a request's are, and of a caller that has its own quotas. */
	private static List<Counter> counters(Random random) {
		Algorithm algorithm = Algorithm.values()[random.nextInt(Algorithm.values().length)];
		CounterSpec spec = CALLERS.get(algorithm).get(random.nextInt(3));
		List<Counter> counters = new ArrayList<>();
		for (String key : List.of("ann", "bob", "acme")) {
			if (random.nextBoolean() || (counters.isEmpty() && key.equals("acme"))) {
				counters.add(new Counter(spec, algorithm.text() + key));
			}
		}
		return counters;
	}

	private static Permits permits(Random random) {
		return switch (random.nextInt(8)) {
			case 0 -> Permits.NONE;
			case 1 -> Permits.exactly(3);
			case 2 -> Permits.between(1, 4);
			case 3 -> Permits.exactly(1 + random.nextInt(20));
			case 4 -> Permits.exactly(100);
			default -> Permits.exactly(1);
		};
	}

	private static List<CounterSpec> callers(Algorithm algorithm, List<List<String>> quotas) {
		List<Limit> limits = quotas.stream()
			.map((own) -> Limit.of("per-user", List.of(Dimension.USER), own.toArray(String[]::new)))
			.toList();
		LiveWindows live = new LiveWindows();
		live.set(limits.stream().flatMap((limit) -> limit.quotas().stream()).map(LiveWindow::of).toList());
		return limits.stream().map((limit) -> new CounterSpec(algorithm, limit, Enforcement.STRICT, live)).toList();
	}

	private record Sent(ScriptCall call, CompletableFuture<List<ScriptCall.Outcome>> answer) {

		void answerBy(RedisCounters scripts) {
			this.answer.complete(scripts.call(this.call).toCompletableFuture().join());
		}

	}

}
