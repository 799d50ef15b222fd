package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.ratelimit.Algorithm;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * One script call: a list of requests that are decided in their order at one time, each
 * all-or-nothing. The requests share an algorithm, a slot and at most
 * {@link #MAX_COUNTERS} counters. What is sent and answered is said in {@code frame.lua}.
 */
final class ScriptCall {

	/** A request names its counters by one byte each. */
	static final int MAX_COUNTERS = 255;

	private static final int AMOUNTS_LENGTH = 4 * Double.BYTES;

	private static final byte NOTHING = 0;

	private static final byte ALL = 1;

	private static final byte FOREIGN = 2;

	private final Algorithm algorithm;

	private final List<Entry> entries;

	private final List<Counter> counters;

	/** For each entry, and in it for each counter, the counter's number. */
	private final byte[] members;

	ScriptCall(List<Entry> entries) {
		this.algorithm = entries.get(0).counters().get(0).spec().algorithm();
		this.entries = entries;
		int size = 0;
		for (Entry entry : entries) {
			size += entry.counters().size();
		}
		this.counters = new ArrayList<>(size);
		this.members = new byte[size];
		Map<Counter, Integer> numbers = new HashMap<>(size * 2);
		int at = 0;
		for (Entry entry : entries) {
			for (Counter counter : entry.counters()) {
				Integer known = numbers.putIfAbsent(counter, this.counters.size() + 1);
				if (known == null) {
					this.counters.add(counter);
				}
				this.members[at++] = (byte) ((known != null) ? known : this.counters.size());
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

	/** One of the counters, which share a slot and with it a node. */
	Counter counter() {
		return this.counters.get(0);
	}

	byte[][] keys() {
		byte[][] keys = new byte[this.counters.size()][];
		for (int i = 0; i < keys.length; i++) {
			keys[i] = this.counters.get(i).key().getBytes(StandardCharsets.ISO_8859_1);
		}
		return keys;
	}

	/**
	 * The arguments of the script.
	 * @param time microseconds as text, or nothing for Redis's own clock
	 */
	byte[][] arguments(byte[] time) {
		List<byte[]> arguments = new ArrayList<>(8);
		arguments.add(time);
		List<byte[]> specs = new ArrayList<>(4);
		arguments.add(kinds(specs));
		arguments.add(heads());
		arguments.add(amounts());
		arguments.addAll(specs);
		return arguments.toArray(byte[][]::new);
	}

	/** For each counter the number of its spec; most share a few. */
	private byte[] kinds(List<byte[]> specs) {
		byte[] kinds = new byte[this.counters.size()];
		Map<CounterSpec, Byte> numbers = new HashMap<>();
		CounterSpec last = null;
		for (int i = 0; i < kinds.length; i++) {
			CounterSpec spec = this.counters.get(i).spec();
			if (spec == last) {
				kinds[i] = kinds[i - 1];
				continue;
			}
			last = spec;
			Byte known = numbers.putIfAbsent(spec, (byte) (specs.size() + 1));
			if (known == null) {
				specs.add(spec.numbers());
			}
			kinds[i] = (known != null) ? known : (byte) specs.size();
		}
		return kinds;
	}

	private byte[] heads() {
		byte[] heads = new byte[2 * this.entries.size() + this.members.length];
		int at = 0;
		int member = 0;
		for (Entry entry : this.entries) {
			int size = entry.counters().size();
			heads[at] = (byte) size;
			heads[at + 1] = (byte) (entry.takesOne() ? 0 : 1);
			System.arraycopy(this.members, member, heads, at + 2, size);
			at += 2 + size;
			member += size;
		}
		return heads;
	}

	private byte[] amounts() {
		int count = 0;
		for (Entry entry : this.entries) {
			count += entry.takesOne() ? 0 : 1;
		}
		ByteBuffer amounts = ByteBuffer.allocate(count * AMOUNTS_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
		for (Entry entry : this.entries) {
			if (!entry.takesOne()) {
				amounts.putDouble(entry.permits().unit())
					.putDouble(entry.permits().least())
					.putDouble(entry.permits().most())
					.putDouble(entry.since());
			}
		}
		return amounts.array();
	}

	/**
	 * What the script answered, one outcome per request.
	 */
	List<Outcome> decode(List<Object> reply) {
		long time = (Long) reply.get(0);
		ByteBuffer told = ByteBuffer.wrap((byte[]) reply.get(1)).order(ByteOrder.LITTLE_ENDIAN);
		List<Outcome> outcomes = new ArrayList<>(this.entries.size());
		for (Entry entry : this.entries) {
			outcomes.add(decode(entry, told, time));
		}
		return outcomes;
	}

	private Outcome decode(Entry entry, ByteBuffer told, long time) {
		long taken = switch (told.get()) {
			case NOTHING -> 0;
			case ALL -> entry.permits().most();
			case FOREIGN -> -1;
			default -> (long) told.getDouble();
		};
		if (taken < 0) {
			return Outcome.FOREIGN;
		}
		List<Counter> counters = entry.counters();
		if (counters.size() == 1) {
			return new Outcome(taken, List.of(reading(counters.get(0), told, time)));
		}
		Reading[] readings = new Reading[counters.size()];
		for (int i = 0; i < readings.length; i++) {
			readings[i] = reading(counters.get(i), told, time);
		}
		return new Outcome(taken, List.of(readings));
	}

	private Reading reading(Counter counter, ByteBuffer told, long time) {
		int length = Short.toUnsignedInt(told.getShort());
		return new Reading(counter, States.decode(this.algorithm, told, length), time);
	}

	/**
	 * A request as a script sees it.
	 *
	 * @param counters what to take from or give back to
	 * @param permits how many
	 * @param since 0 to take; otherwise when the permits were taken that are given back
	 */
	record Entry(List<Counter> counters, Permits permits, long since) {

		boolean takesOne() {
			return this.since == 0 && this.permits.unit() == 1 && this.permits.most() == 1;
		}

	}

	/**
	 * The answer to one request.
	 *
	 * @param taken permits, or -1 if a counter holds a foreign value
	 * @param readings the counters afterwards
	 */
	record Outcome(long taken, List<Reading> readings) {

		static final Outcome FOREIGN = new Outcome(-1, List.of());

	}

}
