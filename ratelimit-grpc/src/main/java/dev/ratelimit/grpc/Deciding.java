package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.grpc.Deadline;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.web.CallCheck;

/**
 * Asks the limiter within the deadline of a call. The deadline of a trusted peer ends the
 * check 2 ms early, so that the answer of the failure mode still arrives. The deadline of
 * other peers does not: a tiny one would make {@code on-failure: allow} a bypass.
 */
final class Deciding implements AutoCloseable {

	/** What an answer needs to reach its peer. */
	private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	/** With less than this, no counter can answer in time. */
	private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final CallCheck check;

	private final Function<String, @Nullable Policy> policies;

	private final Duration timeout;

	private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, (task) -> {
		Thread thread = new Thread(task, "ratelimit-grpc-deadlines");
		thread.setDaemon(true);
		return thread;
	});

	/**
	 * Creates it.
	 * @param policies finds a policy by its id
	 * @param timeout deadline of policies that have none of their own
	 */
	Deciding(CallCheck check, Function<String, @Nullable Policy> policies, Duration timeout) {
		this.check = check;
		this.policies = policies;
		this.timeout = timeout;
		this.timer.setRemoveOnCancelPolicy(true);
	}

	/**
	 * Decides a request. Never fails.
	 * @param deadline the deadline of the call, {@code null} if it has none or its peer
	 * is not trusted
	 */
	CompletableFuture<Decision> decide(Request request, @Nullable Deadline deadline) {
		long left = (deadline != null) ? deadline.timeRemaining(TimeUnit.NANOSECONDS) - ANSWER_NANOS : Long.MAX_VALUE;
		if (left < SHORTEST_NANOS) {
			return this.check.checkUnasked(request);
		}
		if (left >= timeout(request).toNanos()) {
			return this.check.check(request);
		}
		CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
		ScheduledFuture<?> wait = this.timer.schedule(() -> end.complete(null), left, TimeUnit.NANOSECONDS);
		CompletableFuture<Decision> decision = this.check.checkUntil(request, end);
		decision.whenComplete((decided, failure) -> wait.cancel(false));
		return decision;
	}

	/**
	 * Charges a request that has already taken place. Never fails.
	 */
	CompletableFuture<Decision> charge(Request request) {
		return this.check.charge(request);
	}

	/**
	 * Gives back the cost of a request that has already taken place. Never fails.
	 */
	CompletableFuture<Decision> giveBack(Request request) {
		return this.check.giveBack(request);
	}

	/**
	 * Lets the failure mode of the policy answer, for a fault of ours. Never fails.
	 */
	CompletableFuture<Decision> degrade(Request request, Throwable failure) {
		return this.check.degrade(request, failure);
	}

	private Duration timeout(Request request) {
		Policy policy = this.policies.apply(request.policy());
		Duration own = (policy != null) ? policy.settings().timeout() : null;
		return (own != null) ? own : this.timeout;
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
	}

}
