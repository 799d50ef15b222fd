package dev.ratelimit.redis;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

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
 * Requests that look alike (the same number of counters, specs and permits) are sent as a
 * run, so that a script reads what they have in common once. A request whose counters no
 * other request of the call has may leave its place for that: nobody can tell when it is
 * decided. All others keep their order.
 */
class ScriptCall {

	/** Counters, and requests of a run, are numbered by one byte. */
	static final int MAX_COUNTERS = 255;

	private static final int AMOUNTS_LENGTH = 4 * Double.BYTES;

	private final Algorithm algorithm;

	private final List<Entry> entries;

	/** The distinct counters, in the order of their numbers. */
	private final List<Counter> counters;

	private final byte[][] keys;

	/** The distinct specs, in the order of their numbers. */
	private final List<CounterSpec> specs = new ArrayList<>(4);

	private final List<Run> runs = new ArrayList<>(4);

	/** The first one is the time, which is known when the call is sent. */
	private final byte[][] arguments;

	ScriptCall(List<Entry> entries) {
		this.algorithm = entries.get(0).counters().get(0).spec().algorithm();
		this.entries = entries;
		int size = 0;
		for (Entry entry : entries) {
			size += entry.counters().size();
		}
		this.counters = new ArrayList<>(size);
		Set<Counter> shared = shared(size);
		if (shared.isEmpty()) {
			for (int i = 0; i < entries.size(); i++) {
				alike(entries.get(i)).add(i);
			}
		}
		else {
			addShared(shared);
		}
		for (Run run : this.runs) {
			for (int i = 0; i < run.size && !run.shared; i++) {
				this.counters.addAll(entries.get(run.entries[i]).counters());
			}
		}
		this.counters.addAll(shared);
		if (this.counters.size() > MAX_COUNTERS) {
			throw new IllegalArgumentException("one call has at most " + MAX_COUNTERS + " counters");
		}
		this.keys = new byte[this.counters.size()][];
		for (int i = 0; i < this.keys.length; i++) {
			this.keys[i] = this.counters.get(i).key().getBytes(StandardCharsets.ISO_8859_1);
		}
		byte[] runs = runs();
		this.arguments = new byte[3 + this.specs.size()][];
		this.arguments[1] = runs;
		this.arguments[2] = amounts();
		for (int i = 0; i < this.specs.size(); i++) {
			this.arguments[3 + i] = this.specs.get(i).numbers();
		}
	}

	/** The counters that several requests have. */
	private Set<Counter> shared(int size) {
		if (this.entries.size() == 1) {
			// The counters of one request are distinct.
			return Set.of();
		}
		Set<Counter> known = new HashSet<>(2 * size);
		Set<Counter> shared = Set.of();
		for (Entry entry : this.entries) {
			for (Counter counter : entry.counters()) {
				if (!known.add(counter)) {
					shared = shared.isEmpty() ? new LinkedHashSet<>() : shared;
					shared.add(counter);
				}
			}
		}
		return shared;
	}

	private void addShared(Set<Counter> shared) {
		List<Integer> rest = new ArrayList<>();
		for (int i = 0; i < this.entries.size(); i++) {
			if (Collections.disjoint(this.entries.get(i).counters(), shared)) {
				alike(this.entries.get(i)).add(i);
			}
			else {
				rest.add(i);
			}
		}
		Run run = null;
		for (int i : rest) {
			Entry entry = this.entries.get(i);
			shared.addAll(entry.counters());
			if (run == null || !run.takes(entry)) {
				run = new Run(entry, true);
				this.runs.add(run);
			}
			run.add(i);
		}
	}

	/** The run of requests that look like this one and share no counters. */
	private Run alike(Entry entry) {
		for (int i = this.runs.size() - 1; i >= 0; i--) {
			if (this.runs.get(i).takes(entry)) {
				return this.runs.get(i);
			}
		}
		Run run = new Run(entry, false);
		this.runs.add(run);
		return run;
	}

	/** The number of a spec; most counters of a call share a few. */
	private int number(CounterSpec spec) {
		for (int i = this.specs.size() - 1; i >= 0; i--) {
			if (this.specs.get(i) == spec) {
				return i + 1;
			}
		}
		this.specs.add(spec);
		return this.specs.size();
	}

	final List<Entry> entries() {
		return this.entries;
	}

	final Algorithm algorithm() {
		return this.algorithm;
	}

	LuaScript script() {
		return LuaScript.of(this.algorithm);
	}

	/** One of the counters, which share a slot and with it a node. */
	Counter counter() {
		return this.counters.get(0);
	}

	byte[][] keys() {
		return this.keys;
	}

	/**
	 * The arguments of the script.
	 * @param time microseconds as text, or nothing for Redis's own clock
	 */
	byte[][] arguments(byte[] time) {
		this.arguments[0] = time;
		return this.arguments;
	}

	private byte[] runs() {
		ByteArrayOutputStream runs = new ByteArrayOutputStream();
		Map<Counter, Integer> numbers = null;
		for (Run run : this.runs) {
			runs.write(run.like.counters().size());
			runs.write(run.size);
			runs.write((run.like.takesOne() ? 0 : 1) + (run.shared ? 2 : 0));
			for (Counter counter : run.like.counters()) {
				runs.write(number(counter.spec()));
			}
			for (int i = 0; i < run.size && run.shared; i++) {
				numbers = (numbers != null) ? numbers : numbers();
				for (Counter counter : this.entries.get(run.entries[i]).counters()) {
					runs.write(Objects.requireNonNull(numbers.get(counter)));
				}
			}
		}
		return runs.toByteArray();
	}

	private Map<Counter, Integer> numbers() {
		Map<Counter, Integer> numbers = new HashMap<>(2 * this.counters.size());
		for (Counter counter : this.counters) {
			numbers.put(counter, numbers.size() + 1);
		}
		return numbers;
	}

	private byte[] amounts() {
		int count = 0;
		for (Run run : this.runs) {
			count += run.like.takesOne() ? 0 : 1;
		}
		ByteBuffer amounts = ByteBuffer.allocate(count * AMOUNTS_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
		for (Run run : this.runs) {
			if (!run.like.takesOne()) {
				amounts.putDouble(run.like.permits().unit())
					.putDouble(run.like.permits().least())
					.putDouble(run.like.permits().most())
					.putDouble(run.like.since());
			}
		}
		return amounts.array();
	}

	/**
	 * What the script answered, one outcome per request.
	 */
	List<Outcome> decode(List<Object> reply) {
		ScriptReply answers = new ScriptReply(this.algorithm, reply);
		Outcome[] outcomes = new Outcome[this.entries.size()];
		for (Run run : this.runs) {
			for (int i = 0; i < run.size; i++) {
				outcomes[run.entries[i]] = answers.next(this.entries.get(run.entries[i]));
			}
		}
		return Arrays.asList(outcomes);
	}

	/**
	 * Requests that look alike.
	 */
	private static final class Run {

		private final Entry like;

		private final boolean shared;

		private int[] entries = new int[4];

		private int size;

		Run(Entry like, boolean shared) {
			this.like = like;
			this.shared = shared;
		}

		void add(int entry) {
			if (this.size == this.entries.length) {
				this.entries = Arrays.copyOf(this.entries, 4 * this.size);
			}
			this.entries[this.size++] = entry;
		}

		boolean takes(Entry entry) {
			List<Counter> mine = this.like.counters();
			List<Counter> others = entry.counters();
			if (this.size == MAX_COUNTERS || mine.size() != others.size() || this.like.since() != entry.since()
					|| !this.like.permits().equals(entry.permits())) {
				return false;
			}
			for (int i = 0; i < mine.size(); i++) {
				if (mine.get(i).spec() != others.get(i).spec()) {
					return false;
				}
			}
			return true;
		}

	}

	/**
	 * A request as a script sees it.
	 *
	 * @param counters what to take from or give back to
	 * @param permits how many
	 * @param since 0 to take; when the permits were taken that are given back; negative
	 * to charge
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
