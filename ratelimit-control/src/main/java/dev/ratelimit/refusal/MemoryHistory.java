package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The refusals of this instance alone, in memory.
 */
public final class MemoryHistory implements RefusalHistory {

	private final int maxEntries;

	private final Duration retention;

	private final InstantSource clock;

	private final Deque<Stored> entries = new ArrayDeque<>();

	private long last;

	public MemoryHistory(int maxEntries, Duration retention, InstantSource clock) {
		this.maxEntries = maxEntries;
		this.retention = retention;
		this.clock = clock;
	}

	@Override
	public synchronized CompletionStage<Void> add(List<Refusal> refusals) {
		refusals.forEach((refusal) -> this.entries.addLast(new Stored(++this.last, refusal)));
		trim();
		return CompletableFuture.completedStage(null);
	}

	@Override
	public synchronized CompletionStage<Page> find(RefusalQuery query) {
		trim();
		long before = (query.before() != null) ? number(query.before()) : Long.MAX_VALUE;
		List<Refusal> found = new ArrayList<>();
		String next = null;
		Iterator<Stored> newestFirst = this.entries.descendingIterator();
		while (newestFirst.hasNext()) {
			Stored stored = newestFirst.next();
			if (stored.number() < before && query.matches(stored.refusal())) {
				found.add(stored.refusal());
				if (found.size() == query.limit()) {
					next = newestFirst.hasNext() ? stored.number() + "-0" : null;
					break;
				}
			}
		}
		return CompletableFuture.completedStage(new Page(found, next));
	}

	@Override
	public String keeper() {
		return "instance";
	}

	private void trim() {
		Instant oldest = this.clock.instant().minus(this.retention);
		while (!this.entries.isEmpty() && (this.entries.size() > this.maxEntries
				|| this.entries.getFirst().refusal().time().isBefore(oldest))) {
			this.entries.removeFirst();
		}
	}

	private static long number(String place) {
		try {
			return Long.parseLong(place.substring(0, Math.max(0, place.indexOf('-'))));
		}
		catch (NumberFormatException ex) {
			return Long.MAX_VALUE;
		}
	}

	private record Stored(long number, Refusal refusal) {
	}

}
