package dev.ratelimit.background;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class FuturesTests {

	private static final Exception FAILURE = new IllegalStateException("broken");

	@Test
	void causeIsWhatStagesHaveWrapped() {
		assertThat(Futures.cause(new CompletionException(new ExecutionException(FAILURE)))).isSameAs(FAILURE);
		assertThat(Futures.cause(FAILURE)).isSameAs(FAILURE);
		assertThat(Futures.cause(new RuntimeException(FAILURE))).isNotSameAs(FAILURE);
	}

	@Test
	void awaitReturnsTheValueOrThrowsTheCause() {
		assertThat(Futures.await(CompletableFuture.completedStage(1), Duration.ofSeconds(1))).isEqualTo(1);
		assertThatThrownBy(() -> Futures.await(CompletableFuture.failedStage(FAILURE), Duration.ofSeconds(1)))
			.isInstanceOf(CompletionException.class)
			.hasCause(FAILURE);
	}

	@Test
	void awaitEndsInTime() {
		assertThatThrownBy(() -> Futures.await(new CompletableFuture<>(), Duration.ofMillis(1)))
			.hasCauseInstanceOf(TimeoutException.class);
	}

	@Test
	void awaitKeepsTheInterrupt() {
		Thread.currentThread().interrupt();
		assertThatThrownBy(() -> Futures.await(new CompletableFuture<>(), Duration.ofSeconds(1)))
			.hasCauseInstanceOf(InterruptedException.class);
		assertThat(Thread.interrupted()).isTrue();
	}

}
