package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plays the same random traces against the scripts in a real Redis and the formulas in
 * memory: every grant and every field of every status must be equal. A trace has two
 * limits of up to three quotas, two callers that have different quotas on the same
 * counters, costs around their bursts, partial grants, give-backs, settles, peeks,
 * resets, limits that change half-way, and a clock that stands, runs, jumps ahead and is
 * set back. 400 traces of 40 calls make 16,000 calls per algorithm.
 */
class ScriptParityIntegrationTests {

	private static final int TRACES = 400;

	private static final int CALLS = 40;

	private static final long START = 1_700_000_000_000_000L;

	@Property(tries = TRACES, shrinking = ShrinkingMode.BOUNDED)
	void gcra(@ForAll("bursting") Trace trace) {
		compare(Algorithm.GCRA, trace);
	}

	@Property(tries = TRACES, shrinking = ShrinkingMode.BOUNDED)
	void tokenBucket(@ForAll("bursting") Trace trace) {
		compare(Algorithm.TOKEN_BUCKET, trace);
	}

	@Property(tries = TRACES, shrinking = ShrinkingMode.BOUNDED)
	void slidingWindowCounter(@ForAll("plain") Trace trace) {
		compare(Algorithm.SLIDING_WINDOW_COUNTER, trace);
	}

	@Property(tries = TRACES, shrinking = ShrinkingMode.BOUNDED)
	void slidingWindowLog(@ForAll("small") Trace trace) {
		compare(Algorithm.SLIDING_WINDOW_LOG, trace);
	}

	@Property(tries = TRACES, shrinking = ShrinkingMode.BOUNDED)
	void fixedWindow(@ForAll("plain") Trace trace) {
		compare(Algorithm.FIXED_WINDOW, trace);
	}

	private static void compare(Algorithm algorithm, Trace trace) {
		AtomicLong now = new AtomicLong(START);
		Counters scripts = Connections.standalone().at(now::get);
		Counters formulas = new MemoryCounters(1_000, now::get);
		List<List<Counter>> counters = counters(algorithm, trace.limits());
		List<List<Counter>> changed = counters(algorithm, trace.changed());
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < trace.calls().size(); i++) {
			Call call = trace.calls().get(i);
			List<Counter> current = ((i < CALLS / 2) ? counters : changed).get(call.caller());
			now.addAndGet(call.advance());
			long burst = current.stream()
				.mapToLong((counter) -> counter.spec().limit().largestCost())
				.min()
				.orElseThrow();
			switch (call.kind()) {
				case TAKE -> grants.add(acquire(scripts, formulas, current, Permits.exactly(call.cost(burst))));
				case TAKE_PART -> grants.add(acquire(scripts, formulas, current,
						Permits.between(Math.max(1, call.cost(burst) / 3), Math.max(1, call.cost(burst)))));
				case TAKE_MULTIPLES -> {
					long unit = Math.max(1, call.cost(burst) / 10);
					grants.add(acquire(scripts, formulas, current, new Permits(unit, unit, unit * 5)));
				}
				case PEEK -> acquire(scripts, formulas, current, Permits.NONE);
				case GIVE_BACK -> {
					if (!grants.isEmpty()) {
						Grant grant = grants.get(grants.size() - 1 - (int) (call.size() % Math.min(3, grants.size())));
						long permits = (call.size() % 2 == 0) ? grant.permits() : grant.permits() / 2;
						if (permits > 0) {
							join(scripts.giveBack(grant, permits));
							join(formulas.giveBack(grant, permits));
						}
					}
				}
				case SETTLE -> {
					if (!grants.isEmpty()) {
						Grant grant = grants.get(grants.size() - 1 - (int) (call.size() % Math.min(3, grants.size())));
						long actual = (call.size() % 2 == 0) ? grant.permits() / 3 : grant.permits() + call.cost(burst);
						if (grant.permits() > 0 && actual != grant.permits()) {
							Correction correction = new Correction("settle" + i, grant, actual - grant.permits(), 0, 0);
							assertThat(join(scripts.settle(correction))).isEqualTo(join(formulas.settle(correction)));
							acquire(scripts, formulas, current, Permits.NONE);
						}
					}
				}
				case RESET -> {
					join(scripts.reset(current));
					join(formulas.reset(current));
				}
			}
		}
		changed.forEach((own) -> acquire(scripts, formulas, own, Permits.NONE));
	}

	private static Grant acquire(Counters scripts, Counters formulas, List<Counter> counters, Permits permits) {
		Grant told = join(scripts.acquire(counters, permits));
		Grant computed = join(formulas.acquire(counters, permits));
		assertThat(told.permits()).isEqualTo(computed.permits());
		assertThat(told.statuses()).isEqualTo(computed.statuses());
		return told;
	}

	/** The counters as each caller is counted on them. */
	private static List<List<Counter>> counters(Algorithm algorithm, List<Map<String, List<Quota>>> callers) {
		CounterKeys keys = new CounterKeys("rl");
		Map<String, LiveWindows> live = new HashMap<>();
		callers.get(0).keySet().forEach((name) -> {
			LiveWindows windows = new LiveWindows();
			windows.set(callers.stream().flatMap((own) -> own.get(name).stream()).map(LiveWindow::of).toList());
			live.put(name, windows);
		});
		return callers.stream().map((own) -> own.entrySet().stream().map((named) -> {
			Limit limit = new Limit(named.getKey(), List.of(Dimension.USER), named.getValue());
			return new Counter(new CounterSpec(algorithm, limit, Enforcement.STRICT, live.get(limit.name())),
					keys.key("parity", algorithm, limit, List.of("ann")));
		}).toList()).toList();
	}

	@Provide
	Arbitrary<Trace> bursting() {
		return traces(Quota.MAX_PERMITS, true);
	}

	@Provide
	Arbitrary<Trace> plain() {
		return traces(Quota.MAX_PERMITS, false);
	}

	@Provide
	Arbitrary<Trace> small() {
		return traces(1_000, false);
	}

	private static Arbitrary<Trace> traces(long permits, boolean bursts) {
		Arbitrary<List<Quota>> quotas = quotas(permits, bursts);
		Arbitrary<Map<String, List<Quota>>> limits = Combinators.combine(quotas, quotas)
			.as(ScriptParityIntegrationTests::limits);
		return Combinators.combine(limits.list().ofSize(2), limits.list().ofSize(2), calls().list().ofSize(CALLS))
			.as(Trace::new);
	}

	private static Map<String, List<Quota>> limits(List<Quota> first, List<Quota> second) {
		Map<String, List<Quota>> limits = new LinkedHashMap<>();
		limits.put("first", first);
		limits.put("second", second);
		return limits;
	}

	private static Arbitrary<List<Quota>> quotas(long permits, boolean bursts) {
		// Few windows, so that limits which change often keep one.
		Arbitrary<Long> windows = Arbitraries.of(1L, 7L, 60L, 90L, 3_600L, 86_400L, 2_678_400L);
		Arbitrary<Long> sizes = Arbitraries.oneOf(Arbitraries.longs().between(1, 20),
				Arbitraries.of(7L, 100L, 999L, 1_000L), Arbitraries.longs().between(1, permits));
		return Combinators.combine(windows, sizes, sizes, Arbitraries.of(true, false))
			.as((window, size, burst, own) -> quota(window, size, (bursts && own) ? burst : size))
			.list()
			.ofMinSize(1)
			.ofMaxSize(3)
			.uniqueElements(Quota::window);
	}

	private static Quota quota(long seconds, long permits, long burst) {
		long refillable = (long) Math.min(burst, 1_500_000_000.0 * permits / seconds);
		return new Quota(permits, Duration.ofSeconds(seconds), Math.max(1, refillable));
	}

	private static Arbitrary<Call> calls() {
		Arbitrary<Long> advances = Arbitraries.frequencyOf(Tuple.of(4, Arbitraries.just(0L)),
				Tuple.of(6, Arbitraries.longs().between(1, 5_000)),
				Tuple.of(8, Arbitraries.longs().between(1, 2_000_000)),
				Tuple.of(4, Arbitraries.longs().between(1, 90_000_000)),
				Tuple.of(1, Arbitraries.longs().between(1, 4_000_000_000_000L)),
				Tuple.of(1, Arbitraries.longs().between(-10_000_000, -1)),
				Tuple.of(1, Arbitraries.longs().between(-4_000_000_000_000L, -1)));
		Arbitrary<Kind> kinds = Arbitraries.frequency(Tuple.of(10, Kind.TAKE), Tuple.of(4, Kind.TAKE_PART),
				Tuple.of(3, Kind.TAKE_MULTIPLES), Tuple.of(2, Kind.PEEK), Tuple.of(3, Kind.GIVE_BACK),
				Tuple.of(4, Kind.SETTLE), Tuple.of(1, Kind.RESET));
		return Combinators
			.combine(kinds, advances, Arbitraries.longs().between(0, 1_000_000), Arbitraries.integers().between(0, 1))
			.as(Call::new);
	}

	enum Kind {

		TAKE, TAKE_PART, TAKE_MULTIPLES, PEEK, GIVE_BACK, SETTLE, RESET

	}

	/**
	 * One call, after the clock was moved.
	 *
	 * @param kind what is called
	 * @param advance microseconds
	 * @param size millionths, of about one burst when it is a cost
	 * @param caller who calls
	 */
	record Call(Kind kind, long advance, long size, int caller) {

		/**
		 * Mostly a small part of the burst, sometimes up to a tenth more than all of it.
		 */
		long cost(long burst) {
			double share = this.size / 1_000_000.0;
			return Math.min(Quota.MAX_PERMITS, (long) Math.ceil(burst * 1.1 * share * share * share));
		}

	}

	/**
	 * What two callers do.
	 *
	 * @param limits of each caller
	 * @param changed what they are half-way
	 */
	record Trace(List<Map<String, List<Quota>>> limits, List<Map<String, List<Quota>>> changed, List<Call> calls) {

		@Override
		public String toString() {
			return this.limits + " then " + this.changed + ": " + Arrays.toString(this.calls.toArray());
		}

	}

}
