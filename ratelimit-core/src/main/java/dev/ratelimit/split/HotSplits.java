package dev.ratelimit.split;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotMark;

/**
 * Marks counters, and carries their counts over when a mark changes the number of their
 * parts. Other instances learn of a mark within about a second. Until then instances with
 * the old and the new number each keep to the limit, so together they admit at most twice
 * as much.
 */
public final class HotSplits {

	private final Splitting splitting;

	private final HotExchange exchange;

	private final @Nullable PartLevels levels;

	/**
	 * @param splitting the current number of parts of a counter
	 * @param counters where parts are kept; counters in memory are never split
	 */
	public HotSplits(Splitting splitting, HotExchange exchange, Counters counters) {
		this.splitting = splitting;
		this.exchange = exchange;
		this.levels = (counters.source() == Decision.Source.MEMORY) ? null : new PartLevels(counters);
	}

	/**
	 * Marks a counter. Fails without a change if its parts cannot be made ready.
	 * @return {@code false} if too many are marked
	 */
	public CompletionStage<Boolean> mark(HotMark mark, Counter counter) {
		return level(counter, mark.split()).thenCompose((levelled) -> this.exchange.mark(mark));
	}

	/**
	 * Removes a mark.
	 * @param key key of the counter
	 * @param counter the counter, or {@code null} if this instance does not know it: then
	 * the counts of its other parts are lost, as they are if these do not answer
	 */
	public CompletionStage<Void> unmark(String key, @Nullable Counter counter) {
		CompletionStage<Void> levelled = (counter != null) ? level(counter, 1) : CompletableFuture.completedStage(null);
		return levelled.exceptionally((failure) -> null).thenCompose((nothing) -> this.exchange.unmark(key));
	}

	private CompletionStage<Void> level(Counter counter, int split) {
		int to = Math.max(split, counter.spec().limit().split());
		return (this.levels != null) ? this.levels.level(counter, this.splitting.parts(counter), to)
				: CompletableFuture.completedStage(null);
	}

}
