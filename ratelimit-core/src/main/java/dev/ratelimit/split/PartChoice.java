package dev.ratelimit.split;

import dev.ratelimit.counter.Counter;

/**
 * The order in which an instance asks the parts of a counter. It keeps to one part for as
 * long as that part has permits, so that its requests still share calls. Instances start
 * on different parts and go on in different orders, or they would walk from node to node
 * together.
 */
final class PartChoice {

	private static final int PLACES = 4_096;

	private final int instance;

	/**
	 * The part that last had permits, plus 1, by a counter's hash. Only a hint: counters
	 * share places and threads overwrite each other's, which costs a second try at most.
	 */
	private final byte[] current;

	/**
	 * Creates a choice without hints.
	 * @param instance a number that is different in every instance
	 */
	PartChoice(int instance) {
		this(instance, PLACES);
	}

	private PartChoice(int instance, int places) {
		this.instance = instance;
		this.current = new byte[places];
	}

	/**
	 * The choice of one request, the same in every instance and at any time.
	 * @param number a number that the request has whenever it is sent
	 */
	static PartChoice of(int number) {
		return new PartChoice(number, 1);
	}

	/**
	 * The part to begin with.
	 */
	int first(Counter counter, int parts) {
		int known = this.current[place(counter)] - 1;
		return Math.floorMod((known >= 0) ? known : this.instance + counter.hashCode(), parts);
	}

	/**
	 * The distance from one part to the next: a number that leads through all of them.
	 */
	int stride(int parts) {
		int stride = 1 + Math.floorMod(this.instance / parts, parts);
		while (divisor(stride, parts) != 1) {
			stride++;
		}
		return stride;
	}

	void found(Counter counter, int part) {
		this.current[place(counter)] = (byte) (part + 1);
	}

	private int place(Counter counter) {
		int hash = counter.hashCode() * 0x9E3779B9;
		return (this.current.length == 1) ? 0 : hash >>> (Integer.SIZE - Integer.numberOfTrailingZeros(PLACES));
	}

	private static int divisor(int a, int b) {
		return (b == 0) ? a : divisor(b, a % b);
	}

}
