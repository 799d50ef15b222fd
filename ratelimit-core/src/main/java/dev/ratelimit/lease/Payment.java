package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * Permits of one counter that a request has taken from a lease, or from several together.
 */
interface Payment {

	/**
	 * The counter as this instance knows it: what Redis said when it granted the lease,
	 * less what was spent of it since. A guide, because permits that came back in the
	 * meantime and permits that others took are not in it.
	 */
	Reading reading(Counter counter);

	/**
	 * Returns the permits, because another limit refused the request. Those of a lease
	 * that has expired in the meantime are lost.
	 * @param permits what the request took in all
	 */
	void putBack(long permits);

	/**
	 * The counters that were paid for.
	 * @param payments by counter, {@code null} where there is none
	 */
	static List<Reading> readings(List<Counter> counters, @Nullable Payment[] payments) {
		List<Reading> readings = new ArrayList<>(counters.size());
		for (int i = 0; i < payments.length; i++) {
			Payment payment = payments[i];
			if (payment != null) {
				readings.add(payment.reading(counters.get(i)));
			}
		}
		return readings;
	}

}
