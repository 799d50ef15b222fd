package dev.ratelimit.guard;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;

/**
 * One call to one node, which ends twice. For its caller it ends with the answer or at
 * the caller's deadline, and then its place is free. For the node it ends with the answer
 * or at the node's own deadline, counted from when the call was sent: a policy may have a
 * shorter deadline, and missing that one says nothing about the node.
 *
 * <p>
 * Both ends are the same unless the caller's deadline passes first. Then the call is
 * judged later, when the node has had its time. So a dead node is found as soon as by any
 * other call, however short the deadlines of policies are.
 *
 * <p>
 * A call that fetches a lease has more patience than its caller: later requests spend
 * what it brings, so it stays in the queue of the node. An answer after the node's own
 * deadline then says nothing about the node: under full load it is late because of us,
 * and a breaker that opened for it would throw away the leases that end the load. Nor
 * does it close a breaker, since the node may be too slow for checks. Only silence for
 * all of its patience is a failure.
 */
class GuardedCall extends NodeCall implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(GuardedCall.class);

	@SuppressWarnings("rawtypes")
	private static final AtomicReferenceFieldUpdater<GuardedCall, @Nullable CompletableFuture> LATE = AtomicReferenceFieldUpdater
		.newUpdater(GuardedCall.class, CompletableFuture.class, "late");

	private static final AtomicIntegerFieldUpdater<GuardedCall> STATE = AtomicIntegerFieldUpdater
		.newUpdater(GuardedCall.class, "state");

	private static final int WAITING = 0;

	/** The caller's deadline has passed, the node may still answer in time. */
	private static final int GIVEN_UP = 1;

	private static final int JUDGED = 2;

	private final GuardedCounters guard;

	private final Node node;

	private final Duration timeout;

	private final Consumer<Grant> answer;

	/**
	 * Takes the answer after the deadline. Made once, before the call is given up: the
	 * wheel may pass a call twice.
	 */
	private volatile @Nullable CompletableFuture<Grant> late;

	private Deadlines.@Nullable Entry entry;

	private boolean singly;

	private volatile int state;

	/**
	 * @param timeout how long the caller waits
	 * @param patience how long the call is worth sending, at least the timeout
	 */
	GuardedCall(GuardedCounters guard, Node node, List<Counter> counters, Permits permits, Duration timeout,
			Duration patience, Consumer<Grant> answer) {
		super(counters, permits, 0, patience);
		this.guard = guard;
		this.node = node;
		this.timeout = timeout;
		this.answer = answer;
	}

	boolean isWaiting() {
		return this.state == WAITING;
	}

	void entry(Deadlines.Entry entry) {
		this.entry = entry;
	}

	@Override
	public void answered(Grant grant) {
		boolean inTime = STATE.compareAndSet(this, WAITING, JUDGED);
		report(inTime, grant, null);
		deliver(grant.refused() ? grant.at(this.node.name()) : grant, inTime);
	}

	@Override
	public void failed(UnansweredException failure) {
		boolean several = counters().size() > 1 || attempt() != null;
		if (failure.reason() == Decision.Reason.RESHARDING && several && !this.singly && isWaiting()) {
			this.singly = true;
			if (attempt() != null) {
				this.node.notRecorded(failure);
			}
			this.guard.takeSingly(this, this.timeout);
			return;
		}
		boolean inTime = STATE.compareAndSet(this, WAITING, JUDGED);
		UnansweredException unanswered = failure.at(this.node.name());
		report(inTime, null, unanswered);
		deliver(Grant.unanswered(permits(), counters(), unanswered), inTime);
	}

	/** Reports the outcome to the node, unless the call was judged at a deadline. */
	private void report(boolean inTime, @Nullable Grant grant, @Nullable UnansweredException failure) {
		try {
			if (!inTime && !givenUp()) {
				return;
			}
			Deadlines.Entry entry = this.entry;
			if (entry != null) {
				entry.cancel();
			}
			if (inTime) {
				this.node.leave();
			}
			if (grant != null) {
				long replied = replied();
				boolean counts = inTime || sent() == NOT_SENT || replied - sent() <= this.guard.nodeTimeout().toNanos();
				this.node.answered(grant, start(), replied, sent(), counts);
			}
			else if (failure != null) {
				judge(failure);
			}
		}
		catch (Throwable ex) {
			notReported(ex);
		}
	}

	private void notReported(Throwable failure) {
		logger.error("The outcome of a check could not be reported to node {}", this.node.name(), failure);
	}

	/**
	 * The caller's deadline has passed.
	 */
	@Override
	public void run() {
		LATE.compareAndSet(this, null, new CompletableFuture<Grant>());
		boolean sent = sent() != NOT_SENT;
		long now = System.nanoTime();
		long left = Math.max(this.guard.nodeTimeout().toNanos() - (now - (sent ? sent() : start())), deadline() - now);
		boolean judgesLater = left > 0 && this.node.judgesLater();
		if (!STATE.compareAndSet(this, WAITING, judgesLater ? GIVEN_UP : JUDGED)) {
			if (judgesLater) {
				this.node.judged();
			}
			return;
		}
		this.node.leave();
		UnansweredException unanswered = sent ? noAnswerWithin(this.timeout) : this.node.notSent();
		try {
			if (judgesLater) {
				this.entry = this.guard.deadlines().add(this::silent, Duration.ofNanos(left));
			}
			else {
				judge(unanswered);
			}
		}
		catch (Throwable ex) {
			notReported(ex);
		}
		deliver(Grant.unanswered(permits(), new Grant.Gap(counters(), unanswered, this.late)), true);
	}

	/** The node's own deadline has passed, for a call whose caller has given up. */
	private void silent() {
		if (givenUp()) {
			judge((sent() != NOT_SENT) ? noAnswerWithin(this.guard.nodeTimeout()) : this.node.notSent());
		}
	}

	/** Whether this is the end of a call that is judged after its caller gave up. */
	private boolean givenUp() {
		boolean ends = STATE.compareAndSet(this, GIVEN_UP, JUDGED);
		if (ends) {
			this.node.judged();
		}
		return ends;
	}

	/**
	 * Judges the node. A call that was never sent only counts if the node does not answer
	 * others either: otherwise it waited because of us. A deadline shorter than the
	 * node's own says nothing about the node, and a patient call is not over yet.
	 */
	private void judge(UnansweredException failure) {
		long now = System.nanoTime();
		long nodeNanos = this.guard.nodeTimeout().toNanos();
		boolean patient = deadline() - start() > this.timeout.toNanos() && now - deadline() < 0;
		if (sent() == NOT_SENT && failure.reason() == Decision.Reason.SATURATED) {
			long since = now - 2 * Math.max(nodeNanos, this.timeout.toNanos());
			boolean spared = patient || now - start() < nodeNanos || this.node.answeredSince(since);
			this.node.notSent(failure, now - start(), spared);
		}
		else if (failure.reason() == Decision.Reason.TIMEOUT
				&& (patient || now - ((sent() != NOT_SENT) ? sent() : start()) < nodeNanos)) {
			this.node.spared();
		}
		else {
			this.node.failed(failure, now - start(), unansweredChecks());
		}
	}

	/** Checks that this call leaves without an answer: the breaker counts checks. */
	int unansweredChecks() {
		return 1;
	}

	/**
	 * Hands the answer over. What is thrown must not reach the other calls of the same
	 * reply, and must not leave the caller without an answer.
	 */
	private void deliver(Grant grant, boolean inTime) {
		CompletableFuture<Grant> late = this.late;
		try {
			if (inTime) {
				this.answer.accept(grant);
			}
			else if (late != null) {
				late.complete(grant);
			}
		}
		catch (Throwable ex) {
			logger.error("The answer of node {} could not be used", this.node.name(), ex);
			answerAgain(UnansweredException.of(ex));
		}
	}

	/** For a caller that has its answer already this has no effect. */
	private void answerAgain(UnansweredException failure) {
		try {
			this.answer.accept(Grant.unanswered(permits(), counters(), failure));
		}
		catch (Throwable ex) {
			logger.error("A check of node {} has no answer", this.node.name(), ex);
		}
	}

	private UnansweredException noAnswerWithin(Duration time) {
		return new UnansweredException(Decision.Reason.TIMEOUT, "no answer within " + time.toMillis() + " ms")
			.at(this.node.name());
	}

}
