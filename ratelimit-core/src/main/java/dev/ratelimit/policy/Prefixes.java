package dev.ratelimit.policy;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;

/**
 * Patterns that are a beginning, such as {@code sk_revoked_*}: one hash table for each
 * dimension and length, so that a hundred thousand of them are not tried one by one. Read
 * by many threads and written by one at a time.
 */
final class Prefixes {

	private volatile List<Table> tables = List.of();

	boolean isEmpty() {
		return this.tables.isEmpty();
	}

	void add(Dimension dimension, String prefix) {
		Table table = table(dimension, prefix.length());
		if (table == null) {
			table = new Table(dimension, prefix.length(), ConcurrentHashMap.newKeySet());
			table.prefixes().add(prefix);
			this.tables = Stream.concat(this.tables.stream(), Stream.of(table)).toList();
		}
		else {
			table.prefixes().add(prefix);
		}
	}

	void remove(Dimension dimension, String prefix) {
		Table table = table(dimension, prefix.length());
		if (table != null) {
			table.prefixes().remove(prefix);
			if (table.prefixes().isEmpty()) {
				this.tables = this.tables.stream().filter((other) -> other != table).toList();
			}
		}
	}

	boolean matches(Function<Dimension, @Nullable String> values) {
		List<Table> tables = this.tables;
		for (int i = 0; i < tables.size(); i++) {
			Table table = tables.get(i);
			String value = values.apply(table.dimension());
			if (value != null && value.length() >= table.length()
					&& table.prefixes().contains(value.substring(0, table.length()))) {
				return true;
			}
		}
		return false;
	}

	Stream<Dimension> dimensions() {
		return this.tables.stream().map(Table::dimension);
	}

	int size() {
		return this.tables.stream().mapToInt((table) -> table.prefixes().size()).sum();
	}

	private @Nullable Table table(Dimension dimension, int length) {
		return this.tables.stream()
			.filter((table) -> table.length() == length && table.dimension().equals(dimension))
			.findFirst()
			.orElse(null);
	}

	private record Table(Dimension dimension, int length, Set<String> prefixes) {
	}

}
