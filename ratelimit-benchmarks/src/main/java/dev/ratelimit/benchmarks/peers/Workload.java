package dev.ratelimit.benchmarks.peers;

import java.util.Locale;

/**
 * What is asked of a limiter, on keys as {@link Keys} draws them: in a closed loop a
 * number of checks in flight; in the open model half of the rate that the closed loop
 * with the same keys has reached, whether answers come or not.
 *
 * @param keys from which keys
 * @param inFlight how many checks wait for an answer at any time, 0 in the open model
 */
record Workload(Keys keys, int inFlight) {

	private static final String HALF = "half";

	/** The inverse of {@link #id()}. */
	static Workload parse(String id) {
		String[] parts = id.split("-", 2);
		return new Workload(Keys.valueOf(parts[0].toUpperCase(Locale.ROOT)),
				parts[1].equals(HALF) ? 0 : Integer.parseInt(parts[1]));
	}

	boolean open() {
		return this.inFlight == 0;
	}

	String id() {
		return this.keys.id() + "-" + (open() ? HALF : String.valueOf(this.inFlight));
	}

	@Override
	public String toString() {
		return this.keys + (open() ? ", half of the rate" : ", " + this.inFlight + " in flight");
	}

}
