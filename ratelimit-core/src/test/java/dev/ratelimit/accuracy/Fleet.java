package dev.ratelimit.accuracy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;

import dev.ratelimit.Enforcement;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.redis.RedisCounters;
import dev.ratelimit.testing.RedisServers;

/**
 * Instances with a thread and a connection each, which all callers ask at the same time
 * and in an open loop: a check is made when it is due, whether or not others were
 * answered.
 */
final class Fleet implements AutoCloseable {

	/** What even the slowest of the hot callers is above. */
	private static final int HOT = 50;

	private static final double SECOND = 1e9;

	/**
	 * What a stall of the machine has held up for longer is not made up for: the caller
	 * would be above its limit by no fault of its own.
	 */
	private static final long LATE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Deadlines DEADLINES = new Deadlines(ForkJoinPool.commonPool());

	private final RedisClient client = RedisClient.create(RedisServers.standalone().uri());

	private final Map<Counter, LongAdder> granted = new ConcurrentHashMap<>();

	private final List<LeasedCounters> instances;

	Fleet(int size) {
		this.client.connect().sync().flushall();
		this.instances = IntStream.range(0, size).mapToObj((i) -> instance(size)).toList();
	}

	/** Lets all callers ask for as long, and returns what became of it. */
	List<Outcome> run(Duration time) {
		List<Outcome> outcomes = outcomes();
		long start = System.nanoTime();
		CompletableFuture<?>[] threads = IntStream.range(0, this.instances.size())
			.mapToObj((i) -> CompletableFuture.runAsync(() -> ask(i, outcomes, start, time.toNanos()),
					(task) -> new Thread(task, "instance-" + i).start()))
			.toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(threads).join();
		outcomes.forEach((outcome) -> outcome.end(this.granted.get(outcome.counter()).sum()));
		return outcomes;
	}

	@Override
	public void close() {
		this.instances.forEach(LeasedCounters::close);
		this.client.shutdownAsync();
	}

	private List<Outcome> outcomes() {
		List<Outcome> outcomes = new ArrayList<>();
		for (Enforcement enforcement : Enforcement.values()) {
			for (Caller caller : Caller.values()) {
				Outcome outcome = new Outcome(caller, enforcement, this.instances.size());
				this.granted.put(outcome.counter(), new LongAdder());
				outcomes.add(outcome);
			}
		}
		return outcomes;
	}

	/** Makes the checks of one instance and returns when all are answered. */
	private void ask(int instance, List<Outcome> outcomes, long start, long time) {
		Map<Enforcement, Map<Caller, Long>> asked = new EnumMap<>(Enforcement.class);
		List<CompletableFuture<?>> answers = new ArrayList<>();
		for (long now = 0; now < time; now = System.nanoTime() - start) {
			for (Outcome outcome : outcomes) {
				Caller caller = outcome.caller();
				long due = caller.asked(now / SECOND);
				long tooLate = caller.asked(Math.max(0, now - LATE) / SECOND);
				Map<Caller, Long> numbers = asked.computeIfAbsent(outcome.enforcement(),
						(key) -> new EnumMap<>(Caller.class));
				for (long number = Math.max(tooLate, numbers.getOrDefault(caller, 0L)); number < due; number++) {
					if (caller.instance(number, this.instances.size()) == instance) {
						answers.add(ask(this.instances.get(instance), outcome));
					}
				}
				numbers.put(caller, due);
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
		}
		CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)).join();
	}

	private CompletableFuture<?> ask(Counters counters, Outcome outcome) {
		long sent = System.nanoTime();
		return counters.acquire(List.of(outcome.counter()), Permits.exactly(1))
			.thenAccept((grant) -> outcome.add(grant, sent, System.nanoTime()))
			.toCompletableFuture();
	}

	private LeasedCounters instance(int size) {
		RedisCounters redis = RedisCounters.on(this.client.connect(ByteArrayCodec.INSTANCE));
		Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());
		return new LeasedCounters(counted(new GuardedCounters(redis, nodes, DEADLINES, Duration.ZERO)),
				LeaseOptions.DEFAULTS, () -> size, new HotCounters(HOT, 100, () -> size, System::nanoTime),
				(permits) -> {
				}, System::nanoTime, DEADLINES);
	}

	/**
	 * Counts what Redis grants, for checks and for leases, less what is given back: that
	 * is granted once more.
	 */
	private Counters counted(Counters redis) {
		return new FakeCounters(redis,
				(counters, permits, timeout) -> redis.acquire(counters, permits, timeout).thenApply((grant) -> {
					if (grant.complete()) {
						this.granted.get(counters.get(0)).add(grant.permits());
					}
					return grant;
				})) {

			@Override
			public CompletionStage<Void> giveBack(Grant grant, long permits) {
				grant.readings().forEach((reading) -> Fleet.this.granted.get(reading.counter()).add(-permits));
				return super.giveBack(grant, permits);
			}

		};
	}

}
