package dev.ratelimit.hot;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.HotMark;
import dev.ratelimit.counter.PartLevels;

/**
 * Marks counters, and sees to it that what they counted goes along where a mark changes
 * the number of their parts. Instances learn of it within about a second; meanwhile those
 * that have and those that have not each keep to the limit, so both together admit at
 * most twice as much.
 */
public final class HotSplits {

	private final HotCounters hot;

	private final HotExchange exchange;

	private final @Nullable PartLevels levels;

	/**
	 * Creates it.
	 * @param counters where parts are kept; in memory there are none
	 */
	public HotSplits(HotCounters hot, HotExchange exchange, Counters counters) {
		this.hot = hot;
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
	 * Takes a mark away.
	 * @param key of the counter
	 * @param counter {@code null} if nobody knows it: then what its other parts counted
	 * is forgotten, as it is if they do not answer
	 */
	public CompletionStage<Void> unmark(String key, @Nullable Counter counter) {
		CompletionStage<Void> levelled = (counter != null) ? level(counter, 1) : CompletableFuture.completedStage(null);
		return levelled.exceptionally((failure) -> null).thenCompose((nothing) -> this.exchange.unmark(key));
	}

	private CompletionStage<Void> level(Counter counter, int split) {
		int to = Math.max(split, counter.spec().limit().split());
		return (this.levels != null) ? this.levels.level(counter, this.hot.parts(counter), to)
				: CompletableFuture.completedStage(null);
	}

}
