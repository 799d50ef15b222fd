package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The one clock of a case: calls and decisions belong to the phase in which they began.
 */
final class Phases {

	private volatile List<Begun> begun = List.of(new Begun(Phase.WARM_UP, System.nanoTime()));

	void enter(Phase phase) {
		List<Begun> next = new ArrayList<>(this.begun);
		next.add(new Begun(phase, System.nanoTime()));
		this.begun = List.copyOf(next);
	}

	/** The phase at a {@link System#nanoTime()}. */
	Phase at(long nanos) {
		List<Begun> begun = this.begun;
		int last = begun.size() - 1;
		while (last > 0 && begun.get(last).nanos() - nanos > 0) {
			last--;
		}
		return begun.get(last).phase();
	}

	/** How long after the beginning of a phase something was. */
	Duration since(Phase phase, long nanos) {
		return Duration.ofNanos(Math.max(0, nanos - start(phase)));
	}

	/** The {@link System#nanoTime()} at which a phase began. */
	long start(Phase phase) {
		return begun(phase).nanos();
	}

	/** How long a phase lasted that is over. */
	Duration length(Phase phase) {
		List<Begun> begun = this.begun;
		return since(phase, begun.get(begun.indexOf(begun(phase)) + 1).nanos());
	}

	private Begun begun(Phase phase) {
		return this.begun.stream()
			.filter((entered) -> entered.phase() == phase)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("Phase " + phase + " has not begun"));
	}

	private record Begun(Phase phase, long nanos) {
	}

}
