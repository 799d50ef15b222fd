package dev.ratelimit.refusal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Request;

/**
 * Keeps one counter from filling the history. In each interval its first refusals are
 * entries, the others are counted and become one entry at the end. An interval in which
 * something was only counted is followed by one of twice the length, a calm one by one of
 * a second.
 *
 * <p>
 * A counter that is refused without end makes at most {@code (n + 1) / 64} entries a
 * second, about 5,400 a day with n = 3. On the thread of a decision it is a look-up and
 * an increment; intervals end on the writer's thread.
 */
final class KeyCaps {

	static final Duration LONGEST = Duration.ofSeconds(64);

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private static final int MOST_KEYS = 10_000;

	private final int perKey;

	private final LongAdder missing;

	/** Unlike a cache's, its eviction never makes the thread of a decision wait. */
	private final ConcurrentMap<Key, Watched> keys = new ConcurrentHashMap<>();

	private final AtomicInteger size = new AtomicInteger();

	/**
	 * Creates caps.
	 * @param perKey how many of an interval are entries
	 * @param missing where to count what becomes no entry
	 */
	KeyCaps(int perKey, LongAdder missing) {
		this.perKey = perKey;
		this.missing = missing;
	}

	/**
	 * Counts a refusal.
	 * @return {@code null} if there are so many counters already that it is not watched
	 */
	@Nullable Place place(Request request, Decision decision, long now) {
		Key key = Key.of(request, decision);
		Watched watched = this.keys.get(key);
		if (watched == null) {
			watched = watch(key, now);
			if (watched == null) {
				return null;
			}
		}
		return new Place(watched, watched.count.incrementAndGet() - this.perKey);
	}

	private @Nullable Watched watch(Key key, long now) {
		if (this.size.incrementAndGet() > MOST_KEYS) {
			this.size.decrementAndGet();
			return null;
		}
		Watched fresh = new Watched(now);
		Watched known = this.keys.putIfAbsent(key, fresh);
		if (known != null) {
			this.size.decrementAndGet();
		}
		return (known != null) ? known : fresh;
	}

	/**
	 * Ends the intervals that are over.
	 * @return what was only counted in them
	 */
	List<Repeats> turn(long now) {
		List<Repeats> repeats = new ArrayList<>();
		for (Map.Entry<Key, Watched> entry : this.keys.entrySet()) {
			Watched watched = entry.getValue();
			if (now - watched.end >= 0) {
				turn(entry.getKey(), watched, now, repeats);
			}
		}
		return repeats;
	}

	private void turn(Key key, Watched watched, long now, List<Repeats> repeats) {
		Noticed example = watched.example;
		watched.example = null;
		long count = watched.count.getAndSet(0);
		long more = count - this.perKey;
		if (more > 0 && example != null) {
			repeats.add(new Repeats(example, more, Duration.ofNanos(now - watched.start)));
		}
		else if (more > 0) {
			this.missing.add(more);
		}
		else if (count == 0 && this.keys.remove(key, watched)) {
			this.size.decrementAndGet();
		}
		watched.interval = (more > 0) ? Math.min(2 * watched.interval, LONGEST.toNanos()) : SECOND;
		watched.start = now;
		watched.end = now + watched.interval;
	}

	/**
	 * Refusals that were only counted.
	 *
	 * @param example the first of them
	 */
	record Repeats(Noticed example, long count, Duration lasted) {
	}

	/**
	 * Where a refusal stands among those of its counter.
	 */
	record Place(Watched watched, long above) {

		boolean isEntry() {
			return this.above <= 0;
		}

		boolean isFirstCounted() {
			return this.above == 1;
		}

		void example(Noticed noticed) {
			this.watched.example = noticed;
		}

	}

	/**
	 * What refuses: a counter, or where none did the caller's tenant and address.
	 */
	private record Key(String policy, String limit, List<@Nullable String> values) {

		static Key of(Request request, Decision decision) {
			LimitStatus status = decision.refusedBy();
			Map<Dimension, String> known = request.dimensions();
			List<@Nullable String> values = new ArrayList<>(2);
			if (status == null) {
				values.add(known.get(Dimension.TENANT));
				values.add(known.get(Dimension.IP));
				return new Key(decision.policy(), decision.reason().text(), values);
			}
			for (Dimension dimension : status.limit().by()) {
				String value = known.get(dimension);
				values.add((value != null) ? value : known.get(Dimension.IP));
			}
			return new Key(decision.policy(), status.limit().name(), values);
		}

		/** Without the values: they may be personal data. */
		@Override
		public String toString() {
			return "counter of limit '" + this.limit + "'";
		}

	}

	/**
	 * A counter that has refused. Intervals are the writer's, the rest is everybody's.
	 */
	static final class Watched {

		private final AtomicLong count = new AtomicLong();

		private volatile @Nullable Noticed example;

		private long interval = SECOND;

		private long start;

		private long end;

		Watched(long now) {
			this.start = now;
			this.end = now + SECOND;
		}

	}

}
