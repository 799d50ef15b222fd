package dev.ratelimit.metrics;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import io.micrometer.core.instrument.Counter;
import org.jspecify.annotations.Nullable;

/**
 * Counters that differ in two words of the vocabulary, each registered when it first
 * counts. Registering and retiring exclude each other, so that a decision which comes
 * late cannot bring a meter back.
 */
final class CounterTable<R extends Enum<R>, C extends Enum<C>> {

	private final AtomicReferenceArray<@Nullable Counter> counters;

	private final int columns;

	private final BiFunction<R, C, Counter> register;

	private boolean retired;

	CounterTable(Class<R> rows, Class<C> columns, BiFunction<R, C, Counter> register) {
		this.columns = columns.getEnumConstants().length;
		this.counters = new AtomicReferenceArray<>(rows.getEnumConstants().length * this.columns);
		this.register = register;
	}

	void increment(R row, C column) {
		int index = row.ordinal() * this.columns + column.ordinal();
		Counter counter = this.counters.get(index);
		if (counter == null) {
			counter = register(index, row, column);
		}
		if (counter != null) {
			counter.increment();
		}
	}

	/** Registers a counter at 0. */
	void begin(R row, C column) {
		register(row.ordinal() * this.columns + column.ordinal(), row, column);
	}

	private synchronized @Nullable Counter register(int index, R row, C column) {
		Counter counter = this.counters.get(index);
		if (counter == null && !this.retired) {
			counter = this.register.apply(row, column);
			this.counters.set(index, counter);
		}
		return counter;
	}

	/**
	 * Hands over every counter there is; none is registered from now on.
	 */
	synchronized void retire(Consumer<Counter> remove) {
		this.retired = true;
		for (int index = 0; index < this.counters.length(); index++) {
			Counter counter = this.counters.get(index);
			if (counter != null) {
				remove.accept(counter);
			}
		}
	}

}
