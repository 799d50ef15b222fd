package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * The cool-downs or the bans that this instance knows, by the key of the counter. Their
 * number is bounded: one that finds no room is kept next to its counter only.
 */
final class Holds {

	private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

	private final int most;

	private final Map<String, Hold> byKey = new ConcurrentHashMap<>();

	private final AtomicLong sweepAt;

	Holds(int most, long now) {
		this.most = most;
		this.sweepAt = new AtomicLong(now);
	}

	boolean isEmpty() {
		return this.byKey.isEmpty();
	}

	/** The hold of a counter, {@code null} if there is none or it is over. */
	@Nullable Hold find(String key, long now) {
		Hold hold = this.byKey.get(key);
		if (hold != null && hold.isOver(now)) {
			this.byKey.remove(key, hold);
			return null;
		}
		return hold;
	}

	/** Keeps a hold. Of two of one counter the later end counts. */
	void put(Hold hold, long now) {
		if (this.byKey.size() >= this.most && !this.byKey.containsKey(hold.caller().key()) && !sweep(now)) {
			return;
		}
		this.byKey.merge(hold.caller().key(), hold, (known, fresh) -> {
			Hold later = (fresh.until() - known.until() > 0) ? fresh : known;
			boolean listed = known.listed() || fresh.listed();
			return new Hold(later.caller(), later.ban(), later.until(), listed);
		});
	}

	void remove(String key) {
		this.byKey.remove(key);
	}

	void clear() {
		this.byKey.clear();
	}

	/** Removes what the fleet's list once had and has no more. */
	void retainListed(Set<String> keys) {
		this.byKey.values().removeIf((hold) -> hold.listed() && !keys.contains(hold.caller().key()));
	}

	/** Forgets which holds the fleet's list has: it was lost. */
	void keepUnlisted() {
		this.byKey.replaceAll((key, hold) -> new Hold(hold.caller(), hold.ban(), hold.until(), false));
	}

	List<Hold> all(long now) {
		return this.byKey.values().stream().filter((hold) -> !hold.isOver(now)).toList();
	}

	int size(long now) {
		sweep(now);
		return this.byKey.size();
	}

	/** Walks through all of them, so at most once a second. */
	private boolean sweep(long now) {
		long due = this.sweepAt.get();
		if (now - due >= 0 && this.sweepAt.compareAndSet(due, now + SWEEP_NANOS)) {
			this.byKey.values().removeIf((hold) -> hold.isOver(now));
		}
		return this.byKey.size() < this.most;
	}

}
