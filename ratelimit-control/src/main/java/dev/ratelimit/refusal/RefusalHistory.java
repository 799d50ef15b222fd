package dev.ratelimit.refusal;

import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Keeps refusals for a while, bounded by age and by number. Never throws; what goes wrong
 * completes the stage.
 */
public interface RefusalHistory {

	/**
	 * Adds refusals. They are all there when the stage completes, and none need be if it
	 * fails.
	 */
	CompletionStage<Void> add(List<Refusal> refusals);

	/**
	 * Looks for refusals, the newest first.
	 */
	CompletionStage<Page> find(RefusalQuery query);

	/**
	 * Who keeps them: {@code redis} for the whole fleet or {@code instance}.
	 */
	String keeper();

	/**
	 * Some of what was found.
	 *
	 * @param refusals the newest first; there can be more although these are few
	 * @param next where to go on, {@code null} if this is all
	 */
	record Page(List<Refusal> refusals, @Nullable String next) {
	}

}
