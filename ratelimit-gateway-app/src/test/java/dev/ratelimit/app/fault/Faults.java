package dev.ratelimit.app.fault;

import java.time.Duration;

/**
 * How much of the fault suite is run: a short version with every build, a long one for
 * the numbers in the docs with {@code mvn verify -Pfaults}.
 */
final class Faults {

	private static final boolean LONG = "long".equals(System.getProperty("test.faults"));

	private Faults() {
	}

	/** How long a phase lasts at least. */
	static Duration phase() {
		return Duration.ofMillis(LONG ? 15_000 : 1_500);
	}

	/** Calls per second of a case, over all its gateways. */
	static int rate() {
		return LONG ? 600 : 300;
	}

	/**
	 * Longer than a busy machine pauses, so that only a fault makes a check late. The
	 * numbers in the docs come from a machine that has nothing else to do.
	 */
	static String timeout() {
		return LONG ? "timeout=500ms" : "timeout=2s";
	}

	/** How long a node has to be silent for checks to be late in any case. */
	static Duration silence() {
		return LONG ? phase() : Duration.ofSeconds(4);
	}

	/**
	 * Of a slow network: far beyond a deadline of 20 ms, as far as pauses may be long.
	 */
	static Duration latency() {
		return Duration.ofMillis(LONG ? 50 : 500);
	}

	/** How many callers an attacker pretends to be. */
	static int keys() {
		return LONG ? 1_000_000 : 100_000;
	}

}
