package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;

/**
 * What the limiters of a case decided: per phase and kind of decision how many, how fast,
 * when first and when last. Which kinds matter is asked afterwards, by a predicate.
 */
final class Decisions implements DecisionListener {

	private static final long SLICE = TimeUnit.MILLISECONDS.toNanos(100);

	private final Phases phases;

	private final Map<Phase, Map<Kind, Seen>> seen = new EnumMap<>(Phase.class);

	private final Map<Long, Slice> slices = new ConcurrentHashMap<>();

	Decisions(Phases phases) {
		this.phases = phases;
		for (Phase phase : Phase.values()) {
			this.seen.put(phase, new ConcurrentHashMap<>());
		}
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		long now = System.nanoTime();
		Kind kind = new Kind(decision.policy(), decision.outcome(), decision.reason(), decision.source(),
				decision.allowed(), decision.degraded());
		this.seen.get(this.phases.at(now - nanos)).computeIfAbsent(kind, (key) -> new Seen(now)).add(now, nanos);
		this.slices.computeIfAbsent(now / SLICE, (key) -> new Slice()).add(decision.degraded());
	}

	long count(Phase phase, Predicate<Kind> kinds) {
		return seen(phase, kinds).mapToLong((seen) -> seen.latencies.count()).sum();
	}

	Latencies latencies(Phase phase, Predicate<Kind> kinds) {
		Latencies all = new Latencies();
		seen(phase, kinds).forEach((seen) -> all.add(seen.latencies));
		return all;
	}

	/** How long after the beginning of the phase the first such decision was made. */
	Optional<Duration> first(Phase phase, Predicate<Kind> kinds) {
		return seen(phase, kinds).map((seen) -> this.phases.since(phase, seen.first)).min(Duration::compareTo);
	}

	/** How long after the beginning of the phase the last such decision was made. */
	Optional<Duration> last(Phase phase, Predicate<Kind> kinds) {
		return seen(phase, kinds).map((seen) -> this.phases.since(phase, seen.last.get())).max(Duration::compareTo);
	}

	/**
	 * How long after a {@link System#nanoTime()} the last tenth of a second ended in
	 * which more than 10 % of the decisions were degraded, zero if there was none. A
	 * single late answer on a busy machine is no outage.
	 */
	Duration degradedSince(long nanos) {
		return lastDegraded().map((end) -> Duration.ofNanos(Math.max(0, end - nanos))).orElse(Duration.ZERO);
	}

	/** Whether decisions were made for as long, and no outage was. */
	boolean enforcedFor(Duration time) {
		long start = System.nanoTime() - time.toNanos();
		boolean decided = this.slices.keySet().stream().anyMatch((slice) -> slice * SLICE - start > 0);
		return decided && lastDegraded().filter((end) -> end - start > 0).isEmpty();
	}

	/** What there was, to be printed when an assertion fails. */
	@Override
	public String toString() {
		StringBuilder text = new StringBuilder();
		this.seen.forEach((phase, kinds) -> kinds
			.forEach((kind, seen) -> text.append("%n%s: %d × %s".formatted(phase, seen.latencies.count(), kind))));
		return text.toString();
	}

	private Optional<Long> lastDegraded() {
		return this.slices.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().isDegraded())
			.map((entry) -> (entry.getKey() + 1) * SLICE)
			.max((one, other) -> Long.signum(one - other));
	}

	private Stream<Seen> seen(Phase phase, Predicate<Kind> kinds) {
		return this.seen.get(phase)
			.entrySet()
			.stream()
			.filter((entry) -> kinds.test(entry.getKey()))
			.map(Map.Entry::getValue);
	}

	/** A decision without its numbers. */
	record Kind(String policy, Decision.Outcome outcome, Decision.Reason reason, Decision.Source source,
			boolean allowed, boolean degraded) {

		/** Whether Redis decided, be it for or against the caller. */
		boolean enforced() {
			return !this.degraded && this.source == Decision.Source.REDIS;
		}

		/** Whether permits that were taken ahead admitted it. */
		boolean leased() {
			return this.source == Decision.Source.LEASE;
		}

		boolean breakerOpen() {
			return this.reason == Decision.Reason.BREAKER_OPEN;
		}

		boolean breakerClosed() {
			return !breakerOpen();
		}

	}

	private static final class Seen {

		private final long first;

		private final AtomicLong last;

		private final Latencies latencies = new Latencies();

		Seen(long now) {
			this.first = now;
			this.last = new AtomicLong(now);
		}

		void add(long now, long nanos) {
			this.last.accumulateAndGet(now, (one, other) -> (one - other > 0) ? one : other);
			this.latencies.record(nanos);
		}

	}

	private static final class Slice {

		private final LongAdder all = new LongAdder();

		private final LongAdder degraded = new LongAdder();

		void add(boolean degraded) {
			this.all.increment();
			if (degraded) {
				this.degraded.increment();
			}
		}

		boolean isDegraded() {
			return this.degraded.sum() * 10 > this.all.sum();
		}

	}

}
