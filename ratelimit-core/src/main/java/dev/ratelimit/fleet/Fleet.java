package dev.ratelimit.limiter;

import java.util.UUID;

/**
 * How many instances share the limits: the number last seen, which also holds while
 * nobody can look, and before the first look the number that is expected.
 */
public final class Fleet {

	private final String instance = UUID.randomUUID().toString();

	private volatile int size;

	public Fleet(int expected) {
		if (expected < 1) {
			throw new IllegalArgumentException("a fleet has at least 1 instance but was expected to have " + expected);
		}
		this.size = expected;
	}

	/**
	 * Which of them this one is: made anew with every start.
	 */
	public String instance() {
		return this.instance;
	}

	public int size() {
		return this.size;
	}

	/**
	 * All live instances were counted.
	 */
	public synchronized void seen(int instances) {
		this.size = Math.max(1, instances);
	}

	/**
	 * Some live instances were counted, there may be more. Just after Redis has lost its
	 * data the first to come back would otherwise take itself for the only one.
	 */
	public synchronized void seenAtLeast(int instances) {
		this.size = Math.max(this.size, instances);
	}

}
