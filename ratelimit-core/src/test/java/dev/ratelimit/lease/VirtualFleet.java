package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.testing.Stages;

/**
 * Instances that lease from one store, in virtual time. A call reaches the store after
 * half of the latency and is answered after all of it; a caller that gives up before that
 * gets the answer late, as from a real Redis.
 */
public final class VirtualFleet {

	private static final long START = 1_700_000_000_000_000_000L;

	private final PriorityQueue<Event> events = new PriorityQueue<>(
			Comparator.comparingLong(Event::at).thenComparingLong(Event::number));

	private final List<LeasedCounters> instances = new ArrayList<>();

	/** When calls were made that no request waits for. */
	private final List<Long> leaseCalls = new ArrayList<>();

	private final Counters store;

	private final Duration latency;

	private long now = START;

	private long number;

	private long calls;

	private long granted;

	private long leased;

	private Duration deadline = Duration.ZERO;

	/** Why a request got no answer. */
	private @Nullable Throwable unanswered;

	/**
	 * A fleet before counters in memory.
	 */
	public static VirtualFleet inMemory(int instances, Duration latency) {
		return new VirtualFleet(instances, latency,
				(micros) -> new MemoryCounters(10_000, micros, () -> micros.getAsLong() * 1_000));
	}

	/**
	 * Creates a fleet.
	 * @param instances how many there are
	 * @param latency from a call to its answer
	 * @param store makes the counters that all of them share, on the clock of the fleet
	 */
	public VirtualFleet(int instances, Duration latency, Function<LongSupplier, Counters> store) {
		this.latency = latency;
		this.store = store.apply(() -> this.now / 1_000);
		for (int i = 0; i < instances; i++) {
			this.instances.add(new LeasedCounters(new FakeCounters(this.store, this::askStore), LeaseOptions.DEFAULTS,
					() -> instances, (counter) -> true, (permits) -> this.leased += permits, () -> this.now,
					FakeCounters.NEVER));
		}
	}

	/**
	 * Nanoseconds since the start.
	 */
	public long elapsed() {
		return this.now - START;
	}

	/**
	 * Counters in memory on the clock of this fleet, for a caller that asks them alone.
	 */
	public MemoryCounters strict() {
		return new MemoryCounters(100, () -> this.now / 1_000, () -> this.now);
	}

	/**
	 * How many instances there are.
	 */
	public int size() {
		return this.instances.size();
	}

	public LeasedCounters instance(int index) {
		return this.instances.get(index);
	}

	/**
	 * When calls were made for leases alone, in nanoseconds of the virtual clock.
	 */
	public List<Long> leaseCalls() {
		return this.leaseCalls;
	}

	/**
	 * How many calls were made, for leases and for requests.
	 */
	public long calls() {
		return this.calls;
	}

	/**
	 * How many permits the store granted, for leases and for requests.
	 */
	public long granted() {
		return this.granted;
	}

	/**
	 * How many permits the store granted for leases.
	 */
	public long leased() {
		return this.leased;
	}

	/**
	 * Does something after a while.
	 */
	public void after(Duration delay, Runnable what) {
		this.events.add(new Event(this.now + delay.toNanos(), this.number++, what));
	}

	/**
	 * Does something again and again.
	 * @param first when for the first time
	 * @param each how long from one time to the next
	 */
	public void each(Duration first, Duration each, Runnable what) {
		after(first, () -> {
			what.run();
			each(each, each, what);
		});
	}

	/**
	 * Lets time pass.
	 */
	public void pass(Duration time) {
		long end = this.now + time.toNanos();
		while (!this.events.isEmpty() && this.events.peek().at() <= end) {
			Event event = this.events.remove();
			this.now = event.at();
			event.what().run();
			if (this.unanswered != null) {
				throw new AssertionError("every request is answered within a second", this.unanswered);
			}
		}
		this.now = end;
	}

	/**
	 * Asks an instance and says what came of it, now or after a while.
	 */
	public void ask(int instance, Counter counter, long cost, Consumer<Grant> answered) {
		ask(instance, counter, cost, Duration.ofSeconds(1)).thenAccept((grant) -> {
			if (!grant.complete()) {
				this.unanswered = grant.gaps().get(0).cause();
			}
			answered.accept(grant);
		});
	}

	/**
	 * Asks an instance.
	 */
	public CompletableFuture<Grant> ask(int instance, Counter counter, long cost, Duration deadline) {
		long before = this.calls;
		this.deadline = deadline;
		CompletableFuture<Grant> answer = this.instances.get(instance)
			.acquire(List.of(counter), Permits.exactly(cost), deadline)
			.toCompletableFuture();
		if (!answer.isDone() && this.calls > before) {
			// The last call was for this request. Without one, it waits for others.
			this.leaseCalls.remove(this.leaseCalls.size() - 1);
		}
		return answer;
	}

	private record Event(long at, long number, Runnable what) {
	}

	/** Asks the store as one of the instances does. */
	private CompletionStage<Grant> askStore(List<Counter> counters, Permits permits, Duration timeout) {
		this.calls++;
		// A request that waited for others has less time left.
		if (timeout.equals(this.deadline)) {
			this.leaseCalls.add(this.now);
		}
		CompletableFuture<Grant> answer = new CompletableFuture<>();
		after(this.latency.dividedBy(2), () -> {
			Grant grant = Stages.join(this.store.acquire(counters, permits));
			this.granted += grant.permits();
			after(this.latency.dividedBy(2), () -> answer.complete(grant));
		});
		if (timeout.compareTo(this.latency) >= 0) {
			return answer;
		}
		CompletableFuture<Grant> given = new CompletableFuture<>();
		after(timeout, () -> given.complete(Grant.unanswered(permits,
				new Grant.Gap(counters, new UnansweredException(Decision.Reason.TIMEOUT, "too slow"), answer))));
		return given;
	}

}
