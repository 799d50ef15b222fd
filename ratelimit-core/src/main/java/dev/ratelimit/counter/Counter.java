package dev.ratelimit.counter;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The state of one limit for one combination of dimension values, wherever it is kept.
 *
 * <p>
 * Two are equal if they are of the same limit and values. Its key, a digest of these, is
 * made when somebody first asks for it: what is decided in-process never does.
 *
 * <p>
 * A counter may be kept in parts, each of which is a counter by itself with its share of
 * the quotas. The first part is kept where the whole counter would be. Where values are
 * hashed, it is another counter in each {@link Epochs epoch}.
 */
public final class Counter {

	private static final int PART_HASH = 0x9E3779B9;

	private final CounterSpec spec;

	private final @Nullable CounterKeys keys;

	private final String policy;

	private final List<String> values;

	private final @Nullable Epoch epoch;

	private final int part;

	private final int hash;

	private @Nullable String key;

	/**
	 * Creates a counter, as it is now.
	 * @param spec how it counts
	 * @param keys how it is named
	 * @param policy id of its policy
	 * @param values a value for each dimension of its limit
	 */
	public Counter(CounterSpec spec, CounterKeys keys, String policy, List<String> values) {
		this(spec, keys, policy, values, keys.epoch(spec.limit(), values));
	}

	Counter(CounterSpec spec, CounterKeys keys, String policy, List<String> values, @Nullable Epoch epoch) {
		this(spec, keys, policy, values, epoch, 0, null);
	}

	/**
	 * Creates a counter that has a name already.
	 */
	public Counter(CounterSpec spec, String key) {
		this(spec, null, key, List.of(), null, 0, key);
	}

	private Counter(CounterSpec spec, @Nullable CounterKeys keys, String policy, List<String> values,
			@Nullable Epoch epoch, int part, @Nullable String key) {
		this.spec = spec;
		this.keys = keys;
		this.policy = policy;
		this.values = values;
		this.epoch = epoch;
		this.part = part;
		this.key = key;
		this.hash = ((31 * policy.hashCode() + spec.limit().name().hashCode()) * 31 + values.hashCode())
				+ ((epoch != null) ? epoch.hashCode() : 0) + PART_HASH * part;
	}

	public CounterSpec spec() {
		return this.spec;
	}

	/**
	 * Id of its policy.
	 */
	public String policy() {
		return this.policy;
	}

	/**
	 * Where it is kept; never shows a value that a caller controls.
	 */
	public String key() {
		String key = this.key;
		if (key == null) {
			key = Objects.requireNonNull(this.keys)
				.key(this.policy, this.spec.algorithm(), this.spec.limit(), this.values, this.epoch, this.part);
			this.key = key;
		}
		return key;
	}

	/**
	 * The same counter, counting in another way.
	 */
	public Counter with(CounterSpec spec) {
		return new Counter(spec, this.keys, this.policy, this.values, this.epoch, this.part, this.key);
	}

	/**
	 * One part of this counter, which is a whole one.
	 * @param part which one, from 0
	 * @param parts how many there are
	 */
	public Counter part(int part, int parts) {
		return new Counter(this.spec.part(part, parts), this.keys, this.policy, this.values, this.epoch, part,
				(part == 0) ? this.key : null);
	}

	/**
	 * The counter that this is a part of, or itself.
	 */
	public Counter whole() {
		CounterSpec whole = this.spec.whole();
		return (whole == null) ? this : new Counter(whole, this.keys, this.policy, this.values, this.epoch, 0,
				(this.part == 0) ? this.key : null);
	}

	/**
	 * The hash code of the counter that this is a part of, without making it.
	 */
	public int wholeHash() {
		return this.hash - PART_HASH * this.part;
	}

	/**
	 * Whether both are parts of one counter.
	 */
	boolean isPartOfTheSameAs(Counter other) {
		return this.spec.whole() != null && this.spec.whole() == other.spec.whole() && this.policy.equals(other.policy)
				&& this.values.equals(other.values) && Objects.equals(this.epoch, other.epoch);
	}

	/**
	 * Whether it is of an epoch that is over, charged together with the counter that
	 * takes its place.
	 */
	boolean isOld() {
		return this.epoch != null && this.epoch.isOver();
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other || (other instanceof Counter counter && this.hash == counter.hash
				&& this.part == counter.part && this.policy.equals(counter.policy) && this.values.equals(counter.values)
				&& this.spec.limit().name().equals(counter.spec.limit().name())
				&& this.spec.algorithm() == counter.spec.algorithm() && Objects.equals(this.epoch, counter.epoch));
	}

	@Override
	public int hashCode() {
		return this.hash;
	}

	/** Without the values, which may be personal data. */
	@Override
	public String toString() {
		return "counter of limit '" + this.spec.limit().name() + "'";
	}

}
