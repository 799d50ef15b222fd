package dev.ratelimit.limiter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Grant;

/**
 * A decision that waits for counters. As a rule it is there as soon as they have
 * answered, and this spares it the stages of a chain.
 */
final class Pending extends CompletableFuture<Decision> implements BiConsumer<@Nullable Grant, @Nullable Throwable> {

	private final BiFunction<@Nullable Grant, @Nullable Throwable, CompletionStage<Decision>> decide;

	Pending(CompletionStage<Grant> answer,
			BiFunction<@Nullable Grant, @Nullable Throwable, CompletionStage<Decision>> decide) {
		this.decide = decide;
		answer.whenComplete(this);
	}

	@Override
	public void accept(@Nullable Grant grant, @Nullable Throwable failure) {
		try {
			CompletableFuture<Decision> decided = this.decide.apply(grant, failure).toCompletableFuture();
			if (decided.isDone() && !decided.isCompletedExceptionally()) {
				complete(decided.join());
			}
			else {
				decided.whenComplete((decision, error) -> {
					if (error == null) {
						complete(decision);
					}
					else {
						completeExceptionally(error);
					}
				});
			}
		}
		catch (RuntimeException ex) {
			completeExceptionally(ex);
		}
	}

}
