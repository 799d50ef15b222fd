package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Corrected;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.NodeCounters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Full load on leases of a node that is slow on purpose: asking it once for every counter
 * takes three times as long as a check may take, but it easily refills the leases. A
 * check may take fifty times as long as usual, so that a busy machine does not matter.
 */
class LeaseRecoveryTests {

	private static final int KEYS = 1_500;

	private static final int CHECKS_PER_SECOND = 3_000;

	private static final Duration DEADLINE = Duration.ofSeconds(1);

	private static final long NANOS_PER_ENTRY = 2_000_000;

	private static final LeaseOptions OPTIONS = new LeaseOptions(Duration.ofSeconds(8), 20, Duration.ofSeconds(8),
			100_000);

	/** The node needs six seconds to answer twice for every counter. */
	private static final Duration PATIENCE = Duration.ofSeconds(90);

	/**
	 * Two answers per counter are enough, and one for a counter that is known. What is
	 * answered too late must be asked again: that was seven times and more.
	 */
	private static final int MOST_ASKED = 5 * KEYS;

	private static final Duration TICK = Duration.ofMillis(10);

	private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(3);

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final SlowNode node = new SlowNode();

	private final Counters counters = new LeasedCounters(new GuardedCounters(this.node,
			new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of()), this.deadlines,
			DEADLINE), OPTIONS, () -> 1, (counter) -> true, (permits) -> {
			}, System::nanoTime, this.deadlines);

	private final List<Counter> keys = keys();

	/** Whether each of the last second's checks was decided by the limits. */
	private final ConcurrentLinkedDeque<Boolean> answers = new ConcurrentLinkedDeque<>();

	private final AtomicInteger next = new AtomicInteger();

	@BeforeEach
	void load() {
		int checks = (int) (CHECKS_PER_SECOND * TICK.toMillis() / 1_000);
		this.threads.scheduleAtFixedRate(() -> IntStream.range(0, checks).forEach((i) -> check()), 0, TICK.toMillis(),
				TimeUnit.MILLISECONDS);
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.deadlines.close();
	}

	@Test
	void instanceWithoutLeasesEnforcesItsLimitsAfterItsStart() {
		awaitEnforced();
		assertThat(this.node.asked()).isLessThan(MOST_ASKED);
	}

	@Test
	void instanceEnforcesItsLimitsAfterItsNodeStoodStill() {
		awaitEnforced();
		int before = this.node.asked();
		this.node.standStill(Duration.ofSeconds(12));
		await("leases that have run out").atMost(PATIENCE).until(() -> enforced() < CHECKS_PER_SECOND / 10);
		awaitEnforced();
		assertThat(this.node.asked() - before).isLessThan(MOST_ASKED);
	}

	private void awaitEnforced() {
		await("99 % of the last checks").atMost(PATIENCE).until(() -> enforced() >= CHECKS_PER_SECOND * 99 / 100);
	}

	private long enforced() {
		return this.answers.stream().filter((enforced) -> enforced).count();
	}

	private void check() {
		Counter counter = this.keys.get(this.next.getAndIncrement() % KEYS);
		this.counters.acquire(List.of(counter), Permits.exactly(1), null, DEADLINE, (grant) -> {
			this.answers.add(grant.complete());
			if (this.answers.size() > CHECKS_PER_SECOND) {
				this.answers.poll();
			}
		});
	}

	private static List<Counter> keys() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "1000000/m"),
				Enforcement.LEASED, new LiveWindows());
		return IntStream.range(0, KEYS).mapToObj((i) -> new Counter(spec, "key" + i)).toList();
	}

	/**
	 * A node that takes its time for each entry of a call, one call after the other.
	 */
	private final class SlowNode implements NodeCounters {

		private final MemoryCounters store = new MemoryCounters(10_000, MemoryCounters::systemMicros);

		private final Lane lane = new Lane(false, this::send);

		/** When it is done with all calls so far. */
		private long idle = System.nanoTime();

		private int asked;

		/** How many entries of calls it had to decide. */
		synchronized int asked() {
			return this.asked;
		}

		synchronized void standStill(Duration time) {
			this.idle = Math.max(this.idle, System.nanoTime()) + time.toNanos();
		}

		private synchronized CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call) {
			long now = System.nanoTime();
			this.asked += call.entries().size();
			this.idle = Math.max(this.idle, now) + call.entries().size() * NANOS_PER_ENTRY;
			CompletableFuture<List<ScriptCall.Outcome>> answer = new CompletableFuture<>();
			LeaseRecoveryTests.this.threads.schedule(() -> answer.complete(decide(call)), this.idle - now,
					TimeUnit.NANOSECONDS);
			return answer;
		}

		private List<ScriptCall.Outcome> decide(ScriptCall call) {
			return call.entries()
				.stream()
				.map((entry) -> this.store.acquire(entry.counters(), entry.permits()).join())
				.map((grant) -> new ScriptCall.Outcome(grant.permits(), grant.readings()))
				.toList();
		}

		@Override
		public void acquire(String node, NodeCall call) {
			this.lane.enter(call);
		}

		@Override
		public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
				Consumer<Grant> answer) {
			throw new UnsupportedOperationException("no slot moves here");
		}

		@Override
		public CompletionStage<Void> giveBack(Grant grant, long permits) {
			return this.store.giveBack(grant, permits);
		}

		@Override
		public CompletionStage<Corrected> settle(Correction correction, long last) {
			throw new UnsupportedOperationException("nothing is settled here");
		}

		@Override
		public CompletionStage<Void> reset(List<Counter> counters) {
			return this.store.reset(counters);
		}

		@Override
		public int slot(Counter counter) {
			return 0;
		}

		@Override
		public String node(Counter counter) {
			return "slow";
		}

		@Override
		public Decision.Source source() {
			return Decision.Source.REDIS;
		}

	}

}
