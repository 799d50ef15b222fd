package dev.ratelimit.policy;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

/**
 * Something about single callers, one hash table per dimension. Read by many threads
 * without a lock and written by one at a time; a read allocates nothing unless it is by
 * API key, which is known by its digest, and with nothing in it costs nothing.
 */
final class ByDimension<V extends ByDimension.Ordered> {

	private volatile List<Table<V>> tables = List.of();

	boolean isEmpty() {
		return this.tables.isEmpty();
	}

	/** The caller of this makes sure that nobody else writes. */
	void put(Dimension dimension, String said, V entry) {
		String value = ApiKeyDigest.said(dimension, said);
		Table<V> table = table(dimension);
		if (table == null) {
			table = new Table<>(dimension, new ConcurrentHashMap<>());
			table.entries().put(value, entry);
			this.tables = Stream.concat(this.tables.stream(), Stream.of(table)).toList();
		}
		else {
			table.entries().put(value, entry);
		}
	}

	/** The caller of this makes sure that nobody else writes. */
	void remove(Dimension dimension, String value) {
		Table<V> table = table(dimension);
		if (table != null) {
			table.entries().remove(ApiKeyDigest.said(dimension, value));
			if (table.entries().isEmpty()) {
				this.tables = this.tables.stream().filter((other) -> other != table).toList();
			}
		}
	}

	/**
	 * What was said about a fact, {@code null} if there is nothing.
	 */
	@Nullable V get(Dimension dimension, String said) {
		Table<V> table = table(dimension);
		return (table != null) ? table.entries().get(ApiKeyDigest.said(dimension, said)) : null;
	}

	/**
	 * What was said last about the caller of a request, by a verified fact; {@code null}
	 * if there is nothing.
	 */
	@Nullable V last(Request request) {
		V last = null;
		List<Table<V>> tables = this.tables;
		for (int i = 0; i < tables.size(); i++) {
			V entry = tables.get(i).find(request);
			if (entry != null && (last == null || entry.order() > last.order())) {
				last = entry;
			}
		}
		return last;
	}

	/**
	 * How many facts there is something about.
	 */
	int size() {
		return this.tables.stream().mapToInt((table) -> table.entries().size()).sum();
	}

	/**
	 * The tables, for those who look for more than what was said last.
	 */
	List<Table<V>> tables() {
		return this.tables;
	}

	private @Nullable Table<V> table(Dimension dimension) {
		return this.tables.stream().filter((table) -> table.dimension().equals(dimension)).findFirst().orElse(null);
	}

	/**
	 * Something that was said before or after something else.
	 */
	interface Ordered {

		long order();

	}

	record Table<V>(Dimension dimension, Map<String, V> entries) {

		@Nullable V find(Request request) {
			String value = request.verified(this.dimension);
			return (value != null) ? this.entries.get(ApiKeyDigest.presented(this.dimension, value)) : null;
		}

	}

}
