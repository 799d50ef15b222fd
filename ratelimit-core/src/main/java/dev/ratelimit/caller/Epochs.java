package dev.ratelimit.counter;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;

import dev.ratelimit.Dimension;

/**
 * With which key values are hashed now. A new epoch, with a new key, begins every time
 * that the clock passes a multiple of the time to rotate.
 *
 * <p>
 * For a while after a turn, counters of the epoch before are charged too and still
 * refuse. That is as long as what they have counted can matter, and a minute longer,
 * because clocks differ. An instance whose clock is behind charges only the old counter
 * when others charge both, so the old one has counted everything for as long as anybody
 * asks it alone; and when the first instance stops to ask it, what is missing in the new
 * one is older than its windows, as long as clocks are less than that minute apart.
 */
public final class Epochs implements Pseudonyms {

	/** By how much the clocks of two instances may differ. */
	public static final Duration TOLERANCE = Duration.ofMinutes(1);

	/** More often than this, most counters would be charged twice most of the time. */
	public static final Duration SHORTEST = Duration.ofHours(1);

	private static final int SHOWN_BYTES = 18;

	private final Salt salt;

	private final long rotateMillis;

	private final LongSupplier millis;

	private volatile Epoch current;

	/**
	 * Creates epochs.
	 * @param salt what the keys are made of
	 * @param rotate how long an epoch lasts
	 * @param millis the clock that tells which one it is: milliseconds since 1970
	 */
	public Epochs(Salt salt, Duration rotate, LongSupplier millis) {
		if (rotate.compareTo(SHORTEST) < 0) {
			throw new IllegalArgumentException("hashes rotate after 1 hour or more, not after " + rotate);
		}
		this.salt = salt;
		this.rotateMillis = rotate.toMillis();
		this.millis = millis;
		this.current = new Epoch(salt.text(), now() / this.rotateMillis);
	}

	@Override
	public String of(Dimension dimension, String value) {
		return shown(at(now()), dimension, value);
	}

	@Override
	public List<String> known(Dimension dimension, String value) {
		Epoch current = at(now());
		return List.of(shown(current, dimension, value),
				shown(Objects.requireNonNull(current.previous()), dimension, value));
	}

	private static String shown(Epoch epoch, Dimension dimension, String value) {
		return CounterKeys.text(epoch.hash(dimension, value), SHOWN_BYTES);
	}

	long now() {
		return this.millis.getAsLong();
	}

	/**
	 * The epoch at a time, which is about now.
	 */
	Epoch at(long millis) {
		Epoch current = this.current;
		long number = Math.floorDiv(millis, this.rotateMillis);
		String salt = this.salt.text();
		if (current.number() != number || !current.isOf(salt)) {
			current = new Epoch(salt, number);
			this.current = current;
		}
		return current;
	}

	/**
	 * Whether counters of the epoch before still have a say.
	 * @param lifetimeMicros how long what they have counted can matter
	 */
	boolean hasJustTurned(long millis, long lifetimeMicros) {
		long since = Math.floorMod(millis, this.rotateMillis);
		return since < lifetimeMicros / 1_000 + TOLERANCE.toMillis();
	}

}
