package dev.ratelimit.testing;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Waits for stages, but not for ever: a test that hangs says nothing. */
public final class Stages {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private Stages() {
	}

	public static <T> T join(CompletionStage<T> stage) {
		return join(stage, TIMEOUT);
	}

	public static <T> T join(CompletionStage<T> stage, Duration timeout) {
		return stage.toCompletableFuture().orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).join();
	}

}
