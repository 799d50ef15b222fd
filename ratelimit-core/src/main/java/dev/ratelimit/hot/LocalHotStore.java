package dev.ratelimit.hot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The store of a single instance: it is the whole fleet and keeps its own marks.
 */
public final class LocalHotStore implements HotStore {

	private final Map<String, Kept> marks = new ConcurrentHashMap<>();

	private final LongSupplier nanos;

	public LocalHotStore(LongSupplier nanos) {
		this.nanos = nanos;
	}

	@Override
	public CompletionStage<View> exchange(List<HotKey> seen, List<RefusedKey> refused, int top) {
		long now = this.nanos.getAsLong();
		this.marks.values().removeIf((kept) -> now - kept.until() >= 0);
		List<HotMark> marks = new ArrayList<>();
		this.marks.values().forEach((kept) -> marks.add(kept.mark().withLeft(Duration.ofNanos(kept.until() - now))));
		return CompletableFuture
			.completedStage(new View(first(seen, top), first(refused, top), marks, View.NOTHING.next()));
	}

	@Override
	public synchronized CompletionStage<Boolean> put(HotMark mark) {
		String key = mark.name().key();
		if (this.marks.size() >= MAX_MARKS && !this.marks.containsKey(key)) {
			return CompletableFuture.completedStage(false);
		}
		this.marks.put(key, new Kept(mark, this.nanos.getAsLong() + mark.left().toNanos()));
		return CompletableFuture.completedStage(true);
	}

	@Override
	public synchronized CompletionStage<Boolean> claim(HotMark mark) {
		Kept kept = this.marks.get(mark.name().key());
		return (kept != null && this.nanos.getAsLong() - kept.until() < 0) ? CompletableFuture.completedStage(false)
				: put(mark);
	}

	@Override
	public CompletionStage<Void> remove(String key) {
		this.marks.remove(key);
		return CompletableFuture.completedStage(null);
	}

	private static <T> List<T> first(List<T> list, int top) {
		return list.subList(0, Math.min(top, list.size()));
	}

	private record Kept(HotMark mark, long until) {
	}

}
