package dev.ratelimit.guard;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.UnansweredException;

/**
 * One call to one node. It ends once, with the answer or at the deadline, and then the
 * node is told and its place is free, whatever still comes.
 */
final class GuardedCall extends Timed<Grant> implements BiConsumer<@Nullable Grant, @Nullable Throwable> {

	private static final AtomicIntegerFieldUpdater<GuardedCall> ENDED = AtomicIntegerFieldUpdater
		.newUpdater(GuardedCall.class, "ended");

	private final Node node;

	private final Duration timeout;

	private final long start = System.nanoTime();

	private @Nullable CompletionStage<Grant> answer;

	@SuppressWarnings("unused") // through ENDED
	private volatile int ended;

	GuardedCall(Node node, Duration timeout) {
		this.node = node;
		this.timeout = timeout;
	}

	/**
	 * Waits for the answer, and for the deadline if it is not there yet.
	 */
	GuardedCall await(CompletionStage<Grant> answer, Deadlines deadlines) {
		this.answer = answer;
		answer.whenComplete(this);
		if (!isDone()) {
			deadlines.add(this, this.timeout);
		}
		return this;
	}

	/**
	 * The answer is there, perhaps too late.
	 */
	@Override
	public void accept(@Nullable Grant grant, @Nullable Throwable failure) {
		if (!ENDED.compareAndSet(this, 0, 1)) {
			return;
		}
		offWheel();
		long nanos = System.nanoTime() - this.start;
		if (grant != null) {
			this.node.answered(grant, nanos);
			complete(grant.refused() ? grant.at(this.node.name()) : grant);
		}
		else {
			UnansweredException unanswered = UnansweredException
				.of((failure != null) ? failure : new IllegalStateException("neither a grant nor a failure"))
				.at(this.node.name());
			this.node.failed(unanswered, nanos);
			completeExceptionally(unanswered);
		}
	}

	@Override
	public void run() {
		if (ENDED.compareAndSet(this, 0, 1)) {
			UnansweredException unanswered = new UnansweredException(Decision.Reason.TIMEOUT,
					"no answer within " + this.timeout.toMillis() + " ms", Objects.requireNonNull(this.answer))
				.at(this.node.name());
			this.node.failed(unanswered, System.nanoTime() - this.start);
			completeExceptionally(unanswered);
		}
	}

}
