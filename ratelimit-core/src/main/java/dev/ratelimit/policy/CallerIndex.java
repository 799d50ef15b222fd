package dev.ratelimit.policy;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

/**
 * Entries about callers. Entries whose keys have the same form share one hash table, so a
 * look-up takes the same time with 100,000 entries as with ten. Many threads read without
 * a lock, one thread writes at a time.
 */
final class CallerIndex<V> {

	private static final Comparator<Table<?>> MOST_DIMENSIONS = Comparator
		.comparingInt((table) -> -table.form().dimensions().size());

	private volatile List<Table<V>> tables = List.of();

	boolean isEmpty() {
		return this.tables.isEmpty();
	}

	/**
	 * One table per form of key, those with the most dimensions first.
	 */
	List<Table<V>> tables() {
		return this.tables;
	}

	Stream<V> entries() {
		return this.tables.stream().flatMap((table) -> table.entries().values().stream());
	}

	/**
	 * The entry for exactly these values.
	 */
	@Nullable V get(Map<Dimension, String> values) {
		KeyForm.Values form = KeyForm.Values.of(values.keySet());
		Table<V> table = table(form);
		return (table != null) ? table.entries().get(form.key(values)) : null;
	}

	void put(Map<Dimension, String> values, V entry) {
		KeyForm.Values form = KeyForm.Values.of(values.keySet());
		change(form, form.key(values), (before) -> entry);
	}

	void remove(Map<Dimension, String> values) {
		KeyForm.Values form = KeyForm.Values.of(values.keySet());
		change(form, form.key(values), (before) -> null);
	}

	/**
	 * Changes an entry.
	 * @param change from the present entry to the next one, each {@code null} if there is
	 * none
	 */
	void change(KeyForm form, Object key, UnaryOperator<@Nullable V> change) {
		Table<V> known = table(form);
		Table<V> table = (known != null) ? known : new Table<>(form, new ConcurrentHashMap<>());
		table.entries().compute(key, (any, before) -> change.apply(before));
		if (table.entries().isEmpty()) {
			this.tables = this.tables.stream().filter((other) -> other != table).toList();
		}
		else if (known == null) {
			this.tables = Stream.concat(this.tables.stream(), Stream.of(table)).sorted(MOST_DIMENSIONS).toList();
		}
	}

	private @Nullable Table<V> table(KeyForm form) {
		return this.tables.stream().filter((table) -> table.form().equals(form)).findFirst().orElse(null);
	}

	record Table<V>(KeyForm form, Map<Object, V> entries) {

		@Nullable V find(Request request, Facts facts) {
			Object key = this.form.key(request, facts);
			return (key != null) ? this.entries.get(key) : null;
		}

	}

}
