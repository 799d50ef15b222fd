package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Settlement;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.memory.MemoryCounters;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests on two or three counters of which some are leased, always or adaptively, and
 * some are not, through leases, guard and the real scripts. Two policies of different
 * algorithms take turns, and costs go up to the burst. In half of the tries two callers
 * with different quotas share the counters.
 */
class MixedEnforcementIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private static final int REQUESTS = 60;

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	@Property(tries = 60, shrinking = ShrinkingMode.OFF)
	void strictCountersDecideLikeTheModelLeasesSpendWhatWasGrantedAndRefusalsTakeNothing(@ForAll long seed)
			throws InterruptedException {
		Random random = new Random(seed);
		RedisCounters scripts = Connections.standalone().at(this.now::get);
		Recorder recorder = new Recorder(Connections.guarded(scripts));
		LeasedCounters leases = new LeasedCounters(recorder, LeaseOptions.DEFAULTS, () -> 1, (counter) -> true,
				(permits) -> {
				}, () -> this.now.get() * 1_000, FakeCounters.NEVER);
		MemoryCounters model = new MemoryCounters(1_000, this.now::get);
		int callers = 1 + random.nextInt(2);
		List<List<List<Counter>>> policies = List.of(policy("first", callers, random),
				policy("second", callers, random));
		Map<Counter, Long> admitted = new HashMap<>();
		for (int i = 0; i < REQUESTS; i++) {
			this.now.addAndGet(advance(random));
			List<Counter> policy = policies.get(random.nextInt(2)).get(random.nextInt(callers));
			List<Counter> strict = policy.stream().filter((counter) -> !isLeased(counter)).toList();
			List<Counter> asked = (random.nextInt(3) == 0) ? strict : policy;
			long cost = cost(asked, random);
			// What a lease takes at one caller's pace differs for another caller.
			List<Counter> comparable = (callers == 1) ? policy : strict;
			List<List<Long>> before = left(comparable, scripts, leases);
			Grant grant = leases.acquire(asked, Permits.exactly(cost), TIMEOUT).join();
			recorder.awaitQuiet();
			assertThat(grant.gaps()).isEmpty();
			if (asked == strict || !grant.refused()) {
				Grant alone = join(model.acquire(strict, Permits.exactly(cost)));
				assertThat(grant.permits()).as("request %d", i).isEqualTo(alone.permits());
			}
			if (grant.refused()) {
				assertThat(left(comparable, scripts, leases)).as("after refused request %d", i).isEqualTo(before);
			}
			else {
				asked.forEach((counter) -> admitted.merge(counter, cost, Long::sum));
			}
			policy.stream()
				.filter(MixedEnforcementIntegrationTests::isLeased)
				.forEach((counter) -> assertThat(admitted.getOrDefault(counter, 0L) + leases.held(counter))
					.isLessThanOrEqualTo(recorder.granted(counter)));
		}
	}

	/** For each counter and quota what is left in Redis, and in leases. */
	private static List<List<Long>> left(List<Counter> counters, Counters scripts, Counters leases) {
		return counters.stream().map((counter) -> {
			long held = leases.held(counter);
			return join(scripts.acquire(List.of(counter), Permits.NONE)).statuses()
				.stream()
				.map(LimitStatus::remaining)
				.map((remaining) -> remaining + held)
				.toList();
		}).toList();
	}

	/**
	 * For each caller its counters, which are the same for all callers. The first counter
	 * is strict, the second is leased, a third one is any.
	 */
	private static List<List<Counter>> policy(String name, int callers, Random random) {
		Algorithm algorithm = Algorithm.values()[random.nextInt(Algorithm.values().length)];
		List<List<Counter>> policy = new ArrayList<>();
		for (int caller = 0; caller < callers; caller++) {
			policy.add(new ArrayList<>());
		}
		int size = 2 + random.nextInt(2);
		for (int i = 0; i < size; i++) {
			Enforcement enforcement = (i == 0) ? Enforcement.STRICT
					: (i == 1) ? Enforcement.LEASED : Enforcement.values()[random.nextInt(Enforcement.values().length)];
			List<Limit> limits = new ArrayList<>();
			for (int caller = 0; caller < callers; caller++) {
				limits.add(limit("limit" + i, algorithm, random));
			}
			LiveWindows live = new LiveWindows();
			live.set(limits.stream().flatMap((limit) -> limit.quotas().stream()).map(LiveWindow::of).toList());
			for (int caller = 0; caller < callers; caller++) {
				policy.get(caller)
					.add(new Counter(new CounterSpec(algorithm, limits.get(caller), enforcement, live), name + i));
			}
		}
		return policy;
	}

	private static Limit limit(String name, Algorithm algorithm, Random random) {
		List<String> quotas = new ArrayList<>(List.of((5 << random.nextInt(6)) + "/s"));
		if (algorithm.hasBurst() && random.nextBoolean()) {
			quotas.set(0, quotas.get(0) + " burst " + (3 << random.nextInt(6)));
		}
		if (random.nextBoolean()) {
			quotas.add((20 << random.nextInt(6)) + "/m");
		}
		return Limit.of(name, List.of(Dimension.USER), quotas.toArray(String[]::new));
	}

	private static boolean isLeased(Counter counter) {
		return counter.spec().enforcement() != Enforcement.STRICT;
	}

	private static long advance(Random random) {
		return switch (random.nextInt(5)) {
			case 0, 1 -> 0;
			case 2 -> random.nextInt(20_000);
			case 3 -> random.nextInt(400_000);
			default -> random.nextInt(3_000_000);
		};
	}

	private static long cost(List<Counter> counters, Random random) {
		long largest = counters.stream().mapToLong((counter) -> counter.spec().largestCost()).min().orElseThrow();
		return switch (random.nextInt(5)) {
			case 0 -> largest;
			case 1 -> 1 + random.nextInt((int) largest);
			default -> 1;
		};
	}

	/** Counts what Redis grants, and knows when all calls are answered. */
	private static final class Recorder implements Counters {

		private final Counters central;

		private final Map<Counter, Long> granted = new HashMap<>();

		private int open;

		Recorder(Counters central) {
			this.central = central;
		}

		@Override
		public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
				Consumer<Grant> answer) {
			begin();
			this.central.acquire(counters, permits, attempt, timeout, (grant) -> {
				counters.forEach((counter) -> add(counter, grant.permits()));
				// Calls that the answer leads to begin before this one ends.
				answer.accept(grant);
				end();
			});
		}

		@Override
		public CompletionStage<Void> giveBack(Grant grant, long permits) {
			begin();
			grant.readings().forEach((reading) -> add(reading.counter(), -permits));
			return this.central.giveBack(grant, permits).whenComplete((done, failure) -> end());
		}

		@Override
		public CompletionStage<Settlement> settle(Correction correction) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Void> reset(List<Counter> counters) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Decision.Source source() {
			return this.central.source();
		}

		synchronized long granted(Counter counter) {
			return this.granted.getOrDefault(counter, 0L);
		}

		synchronized void awaitQuiet() throws InterruptedException {
			while (this.open > 0) {
				wait(TIMEOUT.toMillis());
			}
		}

		private synchronized void add(Counter counter, long permits) {
			this.granted.merge(counter, permits, Long::sum);
		}

		private synchronized void begin() {
			this.open++;
		}

		private synchronized void end() {
			this.open--;
			notifyAll();
		}

	}

}
