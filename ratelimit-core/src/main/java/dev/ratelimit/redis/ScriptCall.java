package dev.ratelimit.redis;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * One script call: a list of requests that are decided in their order at one time, each
 * all-or-nothing. The requests share an algorithm, a slot and at most
 * {@link #MAX_COUNTERS} counters. What is sent and answered is said in {@code frame.lua}.
 *
 * <p>
 * Callers with different quotas may share a counter. What a request names is therefore a
 * place: a counter, and the spec by which this request is to be decided.
 */
final class ScriptCall {

	/** A request names its places by one byte each. */
	static final int MAX_COUNTERS = 255;

	private static final int AMOUNTS_LENGTH = 4 * Double.BYTES;

	private static final byte NOTHING = 0;

	private static final byte ALL = 1;

	private static final byte FOREIGN = 2;

	private final Algorithm algorithm;

	private final List<Entry> entries;

	/** The distinct counters, in the order of their numbers. */
	private final List<Counter> counters;

	/** The distinct specs, in the order of their numbers. */
	private final List<CounterSpec> specs = new ArrayList<>(4);

	/** For each place the numbers of its counter and of its spec. */
	private final ByteArrayOutputStream places;

	/** For each entry, and in it for each counter, the number of its place. */
	private final byte[] members;

	ScriptCall(List<Entry> entries) {
		this.algorithm = entries.get(0).counters().get(0).spec().algorithm();
		this.entries = entries;
		int size = 0;
		for (Entry entry : entries) {
			size += entry.counters().size();
		}
		this.counters = new ArrayList<>(size);
		this.places = new ByteArrayOutputStream(2 * size);
		this.members = new byte[size];
		Map<Counter, Place> known = new HashMap<>(size * 2);
		int at = 0;
		for (Entry entry : entries) {
			for (Counter counter : entry.counters()) {
				this.members[at++] = (byte) place(counter, known).number();
			}
		}
	}

	private Place place(Counter counter, Map<Counter, Place> known) {
		Place first = known.get(counter);
		Place last = null;
		for (Place place = first; place != null; place = place.next) {
			if (place.spec == counter.spec()) {
				return place;
			}
			last = place;
		}
		if (first == null) {
			this.counters.add(counter);
		}
		int number = (first != null) ? first.counter : this.counters.size();
		Place added = new Place(counter.spec(), number, this.places.size() / 2 + 1);
		if (added.number > MAX_COUNTERS) {
			throw new IllegalArgumentException("one call has at most " + MAX_COUNTERS + " counters");
		}
		this.places.write(number);
		this.places.write(kind(counter.spec()));
		if (last == null) {
			known.put(counter, added);
		}
		else {
			last.next = added;
		}
		return added;
	}

	/** The number of a spec; most counters of a call share a few. */
	private int kind(CounterSpec spec) {
		for (int i = this.specs.size() - 1; i >= 0; i--) {
			if (this.specs.get(i) == spec) {
				return i + 1;
			}
		}
		this.specs.add(spec);
		return this.specs.size();
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
		byte[][] arguments = new byte[4 + this.specs.size()][];
		arguments[0] = time;
		arguments[1] = this.places.toByteArray();
		arguments[2] = heads();
		arguments[3] = amounts();
		for (int i = 0; i < this.specs.size(); i++) {
			arguments[4 + i] = this.specs.get(i).numbers();
		}
		return arguments;
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
	 * A counter under one spec; a list of them if it has several in one call.
	 */
	private static final class Place {

		private final CounterSpec spec;

		private final int counter;

		private final int number;

		private @Nullable Place next;

		Place(CounterSpec spec, int counter, int number) {
			this.spec = spec;
			this.counter = counter;
			this.number = number;
		}

		int number() {
			return this.number;
		}

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
