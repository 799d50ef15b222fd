package dev.ratelimit.policy;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The latest results of a function, by the identity of its argument. Counter specs that
 * are made during a request are kept here: leases and remembered refusals last only as
 * long as the spec object. Many threads read without a lock.
 */
final class LatestResults<K, V> {

	private final int most;

	private volatile List<Result<K, V>> results = List.of();

	LatestResults(int most) {
		this.most = most;
	}

	/** The result for this argument, {@code null} if it is not remembered. */
	@Nullable V get(K argument) {
		List<Result<K, V>> results = this.results;
		for (int i = 0; i < results.size(); i++) {
			if (results.get(i).argument() == argument) {
				return results.get(i).value();
			}
		}
		return null;
	}

	/** The remembered result for this argument, or a new one. */
	synchronized V getOrMake(K argument, Function<K, V> function) {
		V known = get(argument);
		if (known != null) {
			return known;
		}
		V fresh = function.apply(argument);
		this.results = Stream.concat(Stream.of(new Result<>(argument, fresh)), this.results.stream())
			.limit(this.most)
			.toList();
		return fresh;
	}

	Stream<V> values() {
		return this.results.stream().map(Result::value);
	}

	private record Result<K, V>(K argument, V value) {
	}

}
