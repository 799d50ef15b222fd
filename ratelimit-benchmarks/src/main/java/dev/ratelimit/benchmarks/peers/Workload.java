package dev.ratelimit.benchmarks.peers;

import java.util.Locale;

/**
 * What is asked of a limiter: always a number of checks in flight, each on a key drawn at
 * random.
 *
 * @param keys from which keys
 * @param inFlight how many checks wait for an answer at any time
 */
record Workload(Keys keys, int inFlight) {

	/** The inverse of {@link #id()}. */
	static Workload parse(String id) {
		String[] parts = id.split("-", 2);
		return new Workload(Keys.valueOf(parts[0].toUpperCase(Locale.ROOT)), Integer.parseInt(parts[1]));
	}

	String id() {
		return this.keys.id() + "-" + this.inFlight;
	}

	@Override
	public String toString() {
		return this.keys + ", " + this.inFlight + " in flight";
	}

}
