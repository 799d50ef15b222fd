package dev.ratelimit.policy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Limit;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CounterSpec;

/**
 * The configured overrides of a policy. A caller gets the one with the most dimensions,
 * and among equals the last.
 */
final class Overrides {

	/** By the name of the limit. */
	private final CallerIndex<Map<String, Entry>> index = new CallerIndex<>();

	Overrides(List<PolicyOverride> overrides, Function<PolicyOverride, Map<String, CounterSpec>> specs) {
		for (int i = 0; i < overrides.size(); i++) {
			PolicyOverride override = overrides.get(i);
			int position = i;
			Map<String, Entry> known = this.index.get(override.when());
			Map<String, Entry> entries = (known != null) ? known : new HashMap<>();
			specs.apply(override).forEach((limit, spec) -> entries.put(limit, new Entry(position, spec)));
			this.index.put(override.when(), entries);
		}
	}

	boolean isEmpty() {
		return this.index.isEmpty();
	}

	Stream<CounterSpec> specs() {
		return this.index.entries().flatMap((entries) -> entries.values().stream()).map(Entry::spec);
	}

	/**
	 * The counter spec that an override gives the caller of a request, {@code null} if
	 * there is none.
	 * @param least smallest number of dimensions that the override must name
	 * @param own whether only overrides of all callers of the counter count
	 */
	@Nullable CounterSpec find(Limit limit, Request request, int least, boolean own) {
		Entry best = null;
		int dimensions = least;
		for (CallerIndex.Table<Map<String, Entry>> table : this.index.tables()) {
			if (table.form().dimensions().size() < dimensions) {
				break;
			}
			if (own && !PolicyWindows.isOwn(limit, table.form().dimensions())) {
				continue;
			}
			Map<String, Entry> entries = table.find(request, Facts.VERIFIED);
			Entry entry = (entries != null) ? entries.get(limit.name()) : null;
			if (entry != null && (best == null || entry.position() > best.position())) {
				best = entry;
				dimensions = table.form().dimensions().size();
			}
		}
		return (best != null) ? best.spec() : null;
	}

	private record Entry(int position, CounterSpec spec) {
	}

}
