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
 * One call to one node, which ends twice. For its caller it ends once, with the answer or
 * at the deadline, and then its place is free, whatever still comes. For the node it ends
 * with the answer or at the node's own deadline: a policy may want to wait for less, and
 * what it missed by that says nothing about the node.
 *
 * <p>
 * Both ends are one and the same unless the caller's deadline is the shorter one and
 * passes without an answer. Then a {@link Verdict} goes on the wheel for the rest of the
 * node's time. So a node that is dead is found out as soon as by any other call, however
 * short the deadlines of all policies are.
 */
final class GuardedCall extends Timed<Grant> implements BiConsumer<@Nullable Grant, @Nullable Throwable> {

	private static final AtomicIntegerFieldUpdater<GuardedCall> STATE = AtomicIntegerFieldUpdater
		.newUpdater(GuardedCall.class, "state");

	private static final int WAITING = 0;

	/** The caller has given up, the node may still answer in time. */
	private static final int GIVEN_UP = 1;

	private static final int JUDGED = 2;

	private final Node node;

	private final Duration timeout;

	private final Duration nodeTimeout;

	private final Deadlines deadlines;

	private final long start = System.nanoTime();

	private @Nullable CompletionStage<Grant> answer;

	private @Nullable Verdict verdict;

	private volatile int state;

	/**
	 * Creates a call.
	 * @param timeout how long the caller waits
	 * @param nodeTimeout how long the node may take before it is to blame
	 */
	GuardedCall(Node node, Duration timeout, Duration nodeTimeout, Deadlines deadlines) {
		this.node = node;
		this.timeout = timeout;
		this.nodeTimeout = nodeTimeout;
		this.deadlines = deadlines;
	}

	/**
	 * Waits for the answer, and for the deadline if it is not there yet.
	 */
	GuardedCall await(CompletionStage<Grant> answer) {
		this.answer = answer;
		answer.whenComplete(this);
		if (!isDone()) {
			this.deadlines.add(this, this.timeout);
		}
		return this;
	}

	/**
	 * The answer is there, perhaps too late.
	 */
	@Override
	public void accept(@Nullable Grant grant, @Nullable Throwable failure) {
		boolean inTime = STATE.compareAndSet(this, WAITING, JUDGED);
		if (!inTime && !STATE.compareAndSet(this, GIVEN_UP, JUDGED)) {
			return;
		}
		long nanos = System.nanoTime() - this.start;
		if (inTime) {
			offWheel();
			this.node.leave();
		}
		else {
			Objects.requireNonNull(this.verdict).end();
		}
		if (grant != null) {
			this.node.answered(grant, nanos);
			complete(grant.refused() ? grant.at(this.node.name()) : grant);
		}
		else {
			UnansweredException unanswered = UnansweredException
				.of((failure != null) ? failure : new IllegalStateException("neither a grant nor a failure"))
				.at(this.node.name());
			judge(unanswered, nanos);
			completeExceptionally(unanswered);
		}
	}

	/**
	 * The caller's deadline has passed.
	 */
	@Override
	public void run() {
		long nanos = System.nanoTime() - this.start;
		long left = this.nodeTimeout.toNanos() - nanos;
		Verdict pending = (left > 0 && this.node.judgesLater()) ? new Verdict() : null;
		this.verdict = pending;
		if (!STATE.compareAndSet(this, WAITING, (pending != null) ? GIVEN_UP : JUDGED)) {
			if (pending != null) {
				this.node.judged();
			}
			return;
		}
		this.node.leave();
		UnansweredException unanswered = new UnansweredException(Decision.Reason.TIMEOUT,
				"no answer within " + this.timeout.toMillis() + " ms", Objects.requireNonNull(this.answer))
			.at(this.node.name());
		if (pending != null) {
			this.deadlines.add(pending, Duration.ofNanos(left));
		}
		else {
			judge(unanswered, nanos);
		}
		completeExceptionally(unanswered);
	}

	/**
	 * A call that was not even sent within the caller's time was not the node's.
	 */
	private void judge(UnansweredException failure, long nanos) {
		if (failure.reason() == Decision.Reason.TIMEOUT && nanos < this.nodeTimeout.toNanos()) {
			this.node.spared();
		}
		else {
			this.node.failed(failure, nanos);
		}
	}

	/**
	 * What the node's own deadline says about a call that its caller has given up.
	 */
	private final class Verdict extends Timed<Void> {

		@Override
		public void run() {
			if (STATE.compareAndSet(GuardedCall.this, GIVEN_UP, JUDGED)) {
				Node node = GuardedCall.this.node;
				node.judged();
				node.failed(
						new UnansweredException(Decision.Reason.TIMEOUT,
								"no answer within " + GuardedCall.this.nodeTimeout.toMillis() + " ms")
							.at(node.name()),
						System.nanoTime() - GuardedCall.this.start);
			}
		}

		void end() {
			offWheel();
			GuardedCall.this.node.judged();
		}

	}

}
