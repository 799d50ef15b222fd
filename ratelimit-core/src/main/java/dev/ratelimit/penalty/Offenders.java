package dev.ratelimit.penalty;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Penalty;
import dev.ratelimit.counter.Counter;

/**
 * The callers whose refusals this instance counts, by the keys of their counters. If
 * there are too many, those that are seldom refused are forgotten.
 */
final class Offenders {

	/** With their keys about 15 MB. */
	static final int MOST = 50_000;

	private final Cache<String, Offender> offenders = Caffeine.newBuilder()
		.maximumSize(MOST)
		.executor(Runnable::run)
		.build();

	Offender get(Counter counter, Penalty terms) {
		Offender known = this.offenders.getIfPresent(counter.key());
		if (known != null) {
			return known;
		}
		Counter before = before(counter, terms);
		return Objects.requireNonNull(this.offenders.get(counter.key(),
				(key) -> new Offender(CallerKey.of(counter), (before != null) ? CallerKey.of(before) : null, terms)));
	}

	/**
	 * The counter of a caller in the previous epoch, {@code null} if none of its
	 * penalties can still hold.
	 */
	static @Nullable Counter before(Counter counter, Penalty terms) {
		return counter.before(Penalties.micros(Math.max(terms.banFor().toNanos(), terms.max().toNanos())));
	}

	/**
	 * The counters of a caller under one limit, of this epoch and of the previous one.
	 */
	Set<CallerKey> sameCaller(CallerKey caller) {
		Set<CallerKey> same = new LinkedHashSet<>(List.of(caller));
		for (Offender offender : this.offenders.asMap().values()) {
			CallerKey before = offender.before();
			if (before != null && (before.equals(caller) || offender.key().equals(caller))) {
				same.add(offender.key());
				same.add(before);
			}
		}
		return same;
	}

	/** Forgets a caller, also what waits to be reported. */
	void forget(String key) {
		Offender offender = this.offenders.asMap().remove(key);
		if (offender != null) {
			offender.forget();
		}
	}

	/** Forgets all callers. What waits to be reported is reported. */
	void clear() {
		this.offenders.invalidateAll();
	}

}
