package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.grpc.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.RequestResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Deadlines of calls. The limiter answers only when it is told to.
 */
class DecidingTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final Request ORDERS = Request.of("orders");

	private final AtomicInteger asked = new AtomicInteger();

	private final CompletableFuture<Decision> answer = new CompletableFuture<>();

	private final RateLimiter limiter = this::check;

	private final Deciding deciding = new Deciding(new CallCheck(
			new RequestResolver(IdentityOptions.DEFAULTS, "local", Map.of(), null, List.of(), PolicySet::of),
			this.limiter), (id) -> null, Duration.ofSeconds(30));

	private CompletionStage<Decision> check(Request request) {
		this.asked.incrementAndGet();
		return this.answer;
	}

	/** A deadline that always has this time left, however slow the machine is. */
	private static Deadline left(long millis) {
		return Deadline.after(millis, TimeUnit.MILLISECONDS, new Deadline.Ticker() {

			@Override
			public long nanoTime() {
				return 0;
			}

		});
	}

	@AfterEach
	void close() {
		this.deciding.close();
	}

	@Test
	void failureModeAnswersWhenTheDeadlineIsNear() {
		assertThat(this.deciding.decide(ORDERS, left(50))).succeedsWithin(LONG)
			.satisfies((decision) -> assertThat(decision.degraded()).isTrue());
		assertThat(this.asked).hasValue(1);
	}

	@Test
	void deadlineThatIsTooShortAsksNobody() {
		assertThat(this.deciding.decide(ORDERS, left(2))).succeedsWithin(LONG)
			.satisfies((decision) -> assertThat(decision.degraded()).isTrue());
		assertThat(this.asked).hasValue(0);
	}

	@Test
	void deadlineBeyondThePolicysOwnIsNotWaitedFor() {
		CompletableFuture<Decision> decision = this.deciding.decide(ORDERS, left(3_600_000));
		assertThat(decision).isNotDone();
		Decision decided = new Decision("orders", 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
				Decision.Source.MEMORY, false, null, 1, 1, List.of(), Receipt.NOTHING);
		this.answer.complete(decided);
		assertThat(decision).isCompletedWithValue(decided);
	}

	@Test
	void callWithoutADeadlineWaitsForTheLimiter() {
		assertThat(this.deciding.decide(ORDERS, null)).isNotDone();
	}

}
