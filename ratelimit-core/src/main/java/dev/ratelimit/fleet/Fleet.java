package dev.ratelimit.fleet;

import java.util.UUID;

/**
 * The number of instances that share the limits: the number last seen, or the expected
 * number before the first answer of Redis.
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
	 * The id of this instance, another one after each start.
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
	 * Some live instances were counted, there may be more. After Redis has lost its data,
	 * the first instance to return must not count itself as the only one.
	 */
	public synchronized void seenAtLeast(int instances) {
		this.size = Math.max(this.size, instances);
	}

}
