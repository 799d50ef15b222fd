package dev.ratelimit.caller;

import java.security.Key;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;

import dev.ratelimit.Dimension;

/**
 * The current key for hashing values. A new epoch with a new key begins each time the
 * clock passes a multiple of the rotation period.
 *
 * <p>
 * After a rotation, requests also charge the counters of the previous epoch, and these
 * can still refuse. This lasts for the lifetime of a counter plus one minute, because
 * clocks differ. An instance whose clock is behind charges only the old counter while
 * others charge both, so the old counter is complete as long as an instance uses it
 * alone. When the first instance stops using the old counter, the usage that the new
 * counter misses is older than its windows, provided that clocks differ by less than one
 * minute.
 */
public final class Epochs implements Pseudonyms {

	/** Largest difference between the clocks of two instances. */
	public static final Duration TOLERANCE = Duration.ofMinutes(1);

	/**
	 * Shortest rotation period: with a shorter one, most counters would be charged twice
	 * most of the time.
	 */
	public static final Duration SHORTEST = Duration.ofHours(1);

	private static final int SHOWN_BYTES = 18;

	private final Salt salt;

	private final long rotateMillis;

	private final LongSupplier millis;

	private volatile Epoch current;

	/**
	 * @param salt the secret that the keys are derived from
	 * @param rotate length of an epoch, at least 1 hour
	 * @param millis clock that selects the epoch: milliseconds since 1970
	 */
	public Epochs(Salt salt, Duration rotate, LongSupplier millis) {
		if (rotate.compareTo(SHORTEST) < 0) {
			throw new IllegalArgumentException("hashes must rotate after at least 1 hour but rotate after " + rotate);
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
		return DigestText.encode(epoch.hash(dimension, value), SHOWN_BYTES);
	}

	public long now() {
		return this.millis.getAsLong();
	}

	/**
	 * The epoch at a time close to now.
	 */
	public Epoch at(long millis) {
		Epoch current = this.current;
		long number = number(millis);
		String salt = this.salt.text();
		if (current.number() != number || !current.isOf(salt)) {
			current = new Epoch(salt, number);
			this.current = current;
		}
		return current;
	}

	/** Number of the epoch at any time. */
	long number(long millis) {
		return Math.floorDiv(millis, this.rotateMillis);
	}

	/** The salt as a key, from which other keys are derived. */
	Key key() {
		return Epoch.key(this.salt.text());
	}

	/**
	 * Whether counters of the previous epoch still apply.
	 * @param lifetimeMicros lifetime of the counter's state in microseconds
	 */
	public boolean hasJustTurned(long millis, long lifetimeMicros) {
		long since = Math.floorMod(millis, this.rotateMillis);
		return since < lifetimeMicros / 1_000 + TOLERANCE.toMillis();
	}

}
