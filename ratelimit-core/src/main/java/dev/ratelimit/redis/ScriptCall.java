package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.ratelimit.Algorithm;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * One script call: a list of requests that are decided in their order at one time, each
 * all-or-nothing. The requests share an algorithm, a slot and at most
 * {@link #MAX_COUNTERS} counters.
 */
final class ScriptCall {

	/** A request names its counters by one byte each. */
	static final int MAX_COUNTERS = 255;

	private final Algorithm algorithm;

	private final List<Entry> entries;

	private final Map<String, Integer> numbers = new LinkedHashMap<>();

	private final List<Counter> counters = new ArrayList<>();

	ScriptCall(List<Entry> entries) {
		this.algorithm = entries.get(0).counters().get(0).spec().algorithm();
		this.entries = entries;
		for (Entry entry : entries) {
			for (Counter counter : entry.counters()) {
				if (this.numbers.putIfAbsent(counter.key(), this.counters.size() + 1) == null) {
					this.counters.add(counter);
				}
			}
		}
		if (this.counters.size() > MAX_COUNTERS) {
			throw new IllegalArgumentException(
					"one call has at most " + MAX_COUNTERS + " counters but was given " + this.counters.size());
		}
	}

	List<Entry> entries() {
		return this.entries;
	}

	LuaScript script() {
		return LuaScript.of(this.algorithm);
	}

	/** One of the keys, which share a slot and with it a node. */
	String key() {
		return this.counters.get(0).key();
	}

	byte[][] keys() {
		return this.counters.stream()
			.map((counter) -> counter.key().getBytes(StandardCharsets.ISO_8859_1))
			.toArray(byte[][]::new);
	}

	/**
	 * The arguments as {@code frame.lua} describes them.
	 * @param time microseconds as text, or nothing for Redis's own clock
	 */
	byte[][] arguments(byte[] time) {
		byte[][] arguments = new byte[1 + this.counters.size() + this.entries.size()][];
		int at = 0;
		arguments[at++] = time;
		for (Counter counter : this.counters) {
			arguments[at++] = counter.spec().numbers();
		}
		for (Entry entry : this.entries) {
			arguments[at++] = encode(entry);
		}
		return arguments;
	}

	private byte[] encode(Entry entry) {
		ByteBuffer buffer = ByteBuffer.allocate(4 * Double.BYTES + entry.counters().size())
			.order(ByteOrder.LITTLE_ENDIAN)
			.putDouble(entry.permits().unit())
			.putDouble(entry.permits().least())
			.putDouble(entry.permits().most())
			.putDouble(entry.since());
		for (Counter counter : entry.counters()) {
			buffer.put(this.numbers.getOrDefault(counter.key(), 0).byteValue());
		}
		return buffer.array();
	}

	/**
	 * What the script answered, one outcome per request.
	 */
	List<Outcome> decode(List<Object> reply) {
		long time = (Long) reply.get(0);
		List<Outcome> outcomes = new ArrayList<>(this.entries.size());
		int at = 1;
		for (Entry entry : this.entries) {
			long taken = (Long) reply.get(at++);
			List<Reading> readings = new ArrayList<>(entry.counters().size());
			for (Counter counter : entry.counters()) {
				long[] state = States.decode(this.algorithm, (byte[]) reply.get(at++));
				readings.add(new Reading(counter, state, time));
			}
			outcomes.add(new Outcome(taken, readings));
		}
		return outcomes;
	}

	/**
	 * A request as a script sees it.
	 *
	 * @param counters what to take from or give back to
	 * @param permits how many
	 * @param since 0 to take; otherwise when the permits were taken that are given back
	 */
	record Entry(List<Counter> counters, Permits permits, long since) {
	}

	/**
	 * The answer to one request.
	 *
	 * @param taken permits, or -1 if a counter holds a foreign value
	 * @param readings the counters afterwards
	 */
	record Outcome(long taken, List<Reading> readings) {
	}

}
