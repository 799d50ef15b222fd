package dev.ratelimit.lease;

import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * The readings of counters that leases paid for, each made when it is asked for: most
 * decisions are only asked whether they allow.
 */
final class LeasedReadings extends AbstractList<Reading> implements RandomAccess {

	private final List<Counter> counters;

	private final @Nullable Payment[] payments;

	/**
	 * @param payments one for each counter
	 */
	LeasedReadings(List<Counter> counters, @Nullable Payment[] payments) {
		this.counters = counters;
		this.payments = payments;
	}

	@Override
	public Reading get(int index) {
		return Objects.requireNonNull(this.payments[index]).reading(this.counters.get(index));
	}

	@Override
	public int size() {
		return this.payments.length;
	}

}
