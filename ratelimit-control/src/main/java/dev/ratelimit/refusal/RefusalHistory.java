package dev.ratelimit.refusal;

import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Keeps refusals, bounded by age and by number. Never throws; the stage fails instead.
 */
public interface RefusalHistory {

	/**
	 * Adds refusals. If the stage fails, some or all may be missing.
	 */
	CompletionStage<Void> add(List<Refusal> refusals);

	CompletionStage<Page> find(RefusalQuery query);

	/**
	 * {@code redis} for the history of the fleet, else {@code instance}.
	 */
	String keeper();

	/**
	 * A page of the result.
	 *
	 * @param refusals the newest first; a short page need not be the last
	 * @param next {@code before} of the next query, {@code null} after the last page
	 */
	record Page(List<Refusal> refusals, @Nullable String next) {
	}

}
