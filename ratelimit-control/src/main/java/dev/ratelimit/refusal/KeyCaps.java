package dev.ratelimit.refusal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Request;

/**
 * Keeps one counter from filling the history. In each interval its first refusals become
 * entries; the others are counted and become one entry at the end. After an interval with
 * counted refusals the next one is twice as long, after a calm one it is a second.
 *
 * <p>
 * A counter that refuses all the time makes at most {@code (n + 1) / 64} entries a
 * second, about 5,400 a day with n = 3. The thread of a decision does a look-up and an
 * increment; intervals end on the writer's thread.
 */
final class KeyCaps {

	static final Duration LONGEST = Duration.ofSeconds(64);

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private static final int MAX_KEYS = 10_000;

	private final int perKey;

	private final LongAdder missing;

	/** Not a cache: eviction would make the thread of a decision wait. */
	private final ConcurrentHashMap<Key, Watched> keys = new ConcurrentHashMap<>();

	/**
	 * @param perKey refusals per interval that become entries
	 * @param missing counts refusals without an entry
	 */
	KeyCaps(int perKey, LongAdder missing) {
		this.perKey = perKey;
		this.missing = missing;
	}

	/** Counts a refusal; {@code null} if too many counters are watched already. */
	@Nullable Place place(Request request, Decision decision, long now) {
		Key key = Key.of(request, decision);
		Watched watched = this.keys.get(key);
		if (watched == null && this.keys.mappingCount() >= MAX_KEYS) {
			return null;
		}
		if (watched == null) {
			Watched fresh = new Watched(now);
			Watched known = this.keys.putIfAbsent(key, fresh);
			watched = (known != null) ? known : fresh;
		}
		return new Place(watched, watched.count.incrementAndGet() - this.perKey);
	}

	/** Ends the intervals that are over, and returns what was only counted in them. */
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
		QueuedRefusal example = watched.example;
		watched.example = null;
		long count = watched.count.getAndSet(0);
		long more = count - this.perKey;
		if (more > 0 && example != null) {
			repeats.add(new Repeats(example, more, Duration.ofNanos(now - watched.start)));
		}
		else if (more > 0) {
			this.missing.add(more);
		}
		else if (count == 0) {
			this.keys.remove(key, watched);
		}
		watched.interval = (more > 0) ? Math.min(2 * watched.interval, LONGEST.toNanos()) : SECOND;
		watched.start = now;
		watched.end = now + watched.interval;
	}

	/** Refusals that were only counted; the first of them is the example. */
	record Repeats(QueuedRefusal example, long count, Duration lasted) {
	}

	/** The position of a refusal among those of its counter. */
	record Place(Watched watched, long above) {

		boolean isEntry() {
			return this.above <= 0;
		}

		boolean isFirstCounted() {
			return this.above == 1;
		}

		void example(QueuedRefusal queued) {
			this.watched.example = queued;
		}

	}

	/** The counter that refused, or the caller's tenant and address if none did. */
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

	/** A counter that has refused. Only the writer's thread uses the intervals. */
	static final class Watched {

		private final AtomicLong count = new AtomicLong();

		private volatile @Nullable QueuedRefusal example;

		private long interval = SECOND;

		private long start;

		private long end;

		Watched(long now) {
			this.start = now;
			this.end = now + SECOND;
		}

	}

}
