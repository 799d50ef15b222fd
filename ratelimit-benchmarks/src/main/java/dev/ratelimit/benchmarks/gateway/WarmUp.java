package dev.ratelimit.benchmarks.gateway;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/**
 * Decides when the gateway is warm: when the processor time per request, summed over the
 * routes, of three turns in a row differs by less than 5 %, or after a number of turns.
 * The sum, because single routes differ by more than that also when nothing is compiled
 * any longer.
 */
final class WarmUp {

	static final int MAX_TURNS = 12;

	private static final int IN_A_ROW = 3;

	private static final double TOLERANCE = 0.05;

	private final int maxTurns;

	private final List<Double> turns = new ArrayList<>();

	WarmUp(int maxTurns) {
		this.maxTurns = maxTurns;
	}

	/** Adds the processor times per request of a turn of all routes. */
	void add(Collection<Double> micros) {
		this.turns.add(micros.stream().mapToDouble(Double::doubleValue).sum());
	}

	int turns() {
		return this.turns.size();
	}

	boolean over() {
		return steady() || this.turns.size() >= this.maxTurns;
	}

	boolean steady() {
		return spread() < TOLERANCE;
	}

	/**
	 * By what share the last three turns differ; infinite before the third turn.
	 */
	double spread() {
		if (this.turns.size() < IN_A_ROW) {
			return Double.POSITIVE_INFINITY;
		}
		List<Double> last = this.turns.subList(this.turns.size() - IN_A_ROW, this.turns.size());
		return Collections.max(last) / Collections.min(last) - 1;
	}

}
