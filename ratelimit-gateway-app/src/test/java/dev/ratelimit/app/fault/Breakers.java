package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.ratelimit.guard.BreakerState;

/** When the breakers of each gateway of a case changed. */
public final class Breakers {

	private final Phases phases;

	private final Map<Breaker, BreakerState> states = new ConcurrentHashMap<>();

	private final Queue<Change> changes = new ConcurrentLinkedQueue<>();

	Breakers(Phases phases) {
		this.phases = phases;
	}

	void changed(int gateway, String node, BreakerState state) {
		Breaker breaker = new Breaker(gateway, node);
		BreakerState from = this.states.put(breaker, state);
		this.changes.add(new Change(breaker, (from != null) ? from : BreakerState.CLOSED, state, System.nanoTime()));
	}

	/** How often a breaker closed in a phase, over all gateways and nodes. */
	long closed(Phase phase) {
		return in(phase).filter((change) -> change.to() == BreakerState.CLOSED).count();
	}

	/**
	 * How long after the beginning of the fault each of the gateways had opened a
	 * breaker, empty if one has not.
	 */
	Optional<Duration> opened(int gateways) {
		Map<Integer, Long> opened = in(Phase.DURING).filter(Change::opened)
			.collect(Collectors.toMap((change) -> change.breaker().gateway(), Change::nanos, Math::min));
		return (opened.size() < gateways) ? Optional.empty() : latest(opened, this.phases.start(Phase.DURING));
	}

	/**
	 * How long after the repair all breakers that had opened in the fault were closed,
	 * empty if one is not.
	 */
	Optional<Duration> closedAgain(long repaired) {
		Set<Breaker> opened = in(Phase.DURING).filter(Change::opened).map(Change::breaker).collect(Collectors.toSet());
		Map<Breaker, Long> closed = in(Phase.AFTER).filter((change) -> change.to() == BreakerState.CLOSED)
			.filter((change) -> opened.contains(change.breaker()))
			.collect(Collectors.toMap(Change::breaker, Change::nanos, Math::min));
		return (closed.size() < opened.size()) ? Optional.empty() : latest(closed, repaired);
	}

	/** What there was, to be printed when an assertion fails. */
	@Override
	public String toString() {
		return this.changes.stream()
			.map((change) -> "gateway %d, %s: %s".formatted(change.breaker().gateway(), this.phases.at(change.nanos()),
					change.to()))
			.toList()
			.toString();
	}

	private Stream<Change> in(Phase phase) {
		return this.changes.stream().filter((change) -> this.phases.at(change.nanos()) == phase);
	}

	private static Optional<Duration> latest(Map<?, Long> times, long start) {
		return times.values()
			.stream()
			.map((nanos) -> Duration.ofNanos(Math.max(0, nanos - start)))
			.max(Duration::compareTo);
	}

	private record Breaker(int gateway, String node) {
	}

	private record Change(Breaker breaker, BreakerState from, BreakerState to, long nanos) {

		/** Not one that had only tried. */
		boolean opened() {
			return this.from == BreakerState.CLOSED && this.to == BreakerState.OPEN;
		}

	}

}
