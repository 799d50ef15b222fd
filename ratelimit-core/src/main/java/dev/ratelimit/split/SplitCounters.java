package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Quota;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

/**
 * Takes permits of counters that are kept in parts, so that one hot counter is not the
 * load of one node. Each part counts under its share of every quota, and the shares add
 * up to exactly the limit: whichever part a request takes from, all of them together
 * never admit more.
 *
 * <p>
 * An instance keeps to one part of a counter for as long as it has permits, so that its
 * requests still share calls. When the part refuses, the request goes on to the next one
 * and those after it stay there: the use goes to where permits are, and nobody has to
 * move shares. Instances start on different parts and go on in different orders, or they
 * would walk from node to node together.
 */
final class Parts {

	private static final int PLACES = 4_096;

	private final Counters counters;

	private final Splitting splitting;

	private final int instance;

	/**
	 * The part that last had permits, plus 1, by a counter's hash. Only a hint: counters
	 * share places and threads overwrite each other's, which costs a second try at most.
	 */
	private final byte[] current = new byte[PLACES];

	/**
	 * Creates parts.
	 * @param counters where they are kept
	 * @param splitting how many a counter has
	 * @param instance a number that is different in every instance
	 */
	Parts(Counters counters, Splitting splitting, int instance) {
		this.counters = counters;
		this.splitting = splitting;
		this.instance = instance;
	}

	/**
	 * Takes permits from every counter or from none, from one part of those that have
	 * several.
	 */
	CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		for (Counter counter : counters) {
			if (this.splitting.parts(counter) > 1) {
				return new PartSearch(this, this.counters, counters, permits, timeout).ask();
			}
		}
		return this.counters.acquire(counters, permits, timeout);
	}

	/**
	 * The counters with all their parts, those of one counter behind each other.
	 */
	List<Counter> all(List<Counter> counters) {
		List<Counter> all = new ArrayList<>(counters.size());
		for (Counter counter : counters) {
			int parts = this.splitting.parts(counter);
			for (int part = 0; part < parts; part++) {
				all.add((parts > 1) ? counter.part(part, parts) : counter);
			}
		}
		return all;
	}

	/**
	 * The largest cost that all of the counters can admit at once: all permits come from
	 * one part.
	 */
	long largestCost(List<Counter> counters) {
		long largest = Quota.MAX_PERMITS;
		for (Counter counter : counters) {
			int parts = this.splitting.parts(counter);
			long most = (parts > 1) ? 0 : counter.spec().largestCost();
			for (int part = 0; part < parts && parts > 1; part++) {
				most = Math.max(most, counter.spec().part(part, parts).largestCost());
			}
			largest = Math.min(largest, most);
		}
		return largest;
	}

	int count(Counter counter) {
		return this.splitting.parts(counter);
	}

	/**
	 * The part to begin with.
	 */
	int first(Counter counter, int parts) {
		int known = this.current[place(counter)] - 1;
		return Math.floorMod((known >= 0) ? known : this.instance + counter.hashCode(), parts);
	}

	/**
	 * How far it is from a part to the next: a number that leads through all of them.
	 */
	int stride(int parts) {
		int stride = 1 + Math.floorMod(this.instance / parts, parts);
		while (divisor(stride, parts) != 1) {
			stride++;
		}
		return stride;
	}

	/**
	 * A part had permits.
	 */
	void found(Counter counter, int part) {
		this.current[place(counter)] = (byte) (part + 1);
	}

	private static int place(Counter counter) {
		int hash = counter.hashCode() * 0x9E3779B9;
		return hash >>> (Integer.SIZE - Integer.numberOfTrailingZeros(PLACES));
	}

	private static int divisor(int a, int b) {
		return (b == 0) ? a : divisor(b, a % b);
	}

}
