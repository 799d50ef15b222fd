package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Refill;
import dev.ratelimit.counter.UnansweredException;

/**
 * The calls to Redis for one counter under one spec, and the requests that wait for them.
 *
 * <p>
 * While {@value #MOST_CALLS} calls are under way, or one that fetches a lease, a request
 * without a lease waits for their answers: usually a lease comes that pays for all who
 * wait. Otherwise those still without permits call together, and the lane makes one entry
 * of them. Without this, an instance that has no leases under full load sends Redis every
 * request, more than can be answered within a deadline; all leases time out behind these
 * requests, and it never gets any.
 *
 * <p>
 * A call goes on when the request that made it has given up, for as long as its patience
 * lasts: under full load the answer is late, and a new call would be later still. So
 * however slow the node or this process is, a counter has no more than these calls under
 * way, each is answered once, and the leases come.
 *
 * <p>
 * No request waits beyond its own deadline: a gate at which requests wait has an alarm
 * for the earliest of them. Without the alarm they would wait for the patience of a call.
 */
final class Gate {

	/** As in a lane: at low load a request never waits for another one. */
	private static final int MOST_CALLS = 2;

	private int calls;

	private int fetches;

	private @Nullable Deque<PartlyPaid> waiting;

	private boolean armed;

	/** When the alarm is due, if one is set. */
	private long alarm;

	/** Requests that have given up, and how many of them were reported with a call. */
	private long givenUp;

	private long reported;

	/** Why a call that goes on has no answer yet. */
	private @Nullable UnansweredException overdue;

	/**
	 * Asks whether a request must wait. It is then resumed when calls have ended.
	 */
	synchronized boolean await(PartlyPaid request) {
		return (this.calls >= MOST_CALLS || this.fetches > 0) && add(request);
	}

	/**
	 * Asks whether a request that has waited must wait again, for a lease.
	 */
	synchronized boolean awaitLease(PartlyPaid request) {
		return this.fetches > 0 && add(request);
	}

	private boolean add(PartlyPaid request) {
		this.waiting = (this.waiting != null) ? this.waiting : new ArrayDeque<>();
		this.waiting.add(request);
		return true;
	}

	/**
	 * Sets the alarm for the deadline of a request that waits.
	 * @return whether the caller must {@link #expire} then: there is no earlier alarm
	 */
	synchronized boolean arm(long deadline) {
		if (this.armed && deadline - this.alarm >= 0) {
			return false;
		}
		this.armed = true;
		this.alarm = deadline;
		return true;
	}

	/**
	 * Removes the requests whose deadline has passed.
	 */
	synchronized List<PartlyPaid> expire(long now) {
		if (this.armed && now - this.alarm >= 0) {
			this.armed = false;
		}
		List<PartlyPaid> expired = new ArrayList<>(0);
		if (this.waiting != null) {
			this.waiting.removeIf((request) -> now - request.deadline() >= 0 && expired.add(request));
			this.givenUp += expired.size();
		}
		return expired;
	}

	/**
	 * The earliest deadline of a request that waits.
	 */
	synchronized OptionalLong earliest() {
		return (this.waiting == null) ? OptionalLong.empty()
				: this.waiting.stream().mapToLong(PartlyPaid::deadline).reduce((a, b) -> (a - b < 0) ? a : b);
	}

	/**
	 * Why a call has not brought an answer in time, {@code null} if none is late.
	 */
	synchronized @Nullable UnansweredException overdue() {
		return this.overdue;
	}

	/**
	 * A call begins.
	 * @param patience for how long its answer is worth having
	 */
	synchronized Pass begin(Duration patience) {
		this.calls++;
		return new Pass(patience, this.givenUp);
	}

	private synchronized int waiting() {
		return (this.waiting != null) ? this.waiting.size() : 0;
	}

	private synchronized int takeGivenUp(long before) {
		long taken = this.givenUp - Math.max(before, this.reported);
		this.reported = this.givenUp;
		return (int) Math.min(taken, Integer.MAX_VALUE);
	}

	private synchronized void late(UnansweredException cause) {
		this.overdue = cause;
	}

	private synchronized void fetches() {
		this.fetches++;
	}

	private synchronized List<PartlyPaid> end(boolean fetches) {
		this.calls--;
		this.fetches -= fetches ? 1 : 0;
		this.overdue = null;
		if (this.waiting == null || this.calls >= MOST_CALLS || this.fetches > 0) {
			return List.of();
		}
		List<PartlyPaid> resumed = List.copyOf(this.waiting);
		this.waiting = null;
		return resumed;
	}

	/**
	 * A call under way.
	 */
	final class Pass implements Refill {

		private final Duration patience;

		private final long givenUpBefore;

		private boolean fetches;

		private final AtomicBoolean ended = new AtomicBoolean();

		private Pass(Duration patience, long givenUpBefore) {
			this.patience = patience;
			this.givenUpBefore = givenUpBefore;
		}

		@Override
		public Duration patience() {
			return this.patience;
		}

		@Override
		public int waiting() {
			return Gate.this.waiting();
		}

		@Override
		public int takeGivenUp() {
			return Gate.this.takeGivenUp(this.givenUpBefore);
		}

		/**
		 * The call also fetches a lease.
		 */
		void fetches() {
			this.fetches = true;
			Gate.this.fetches();
		}

		/**
		 * The call goes on although its caller has given up.
		 */
		void late(UnansweredException cause) {
			Gate.this.late(cause);
		}

		/**
		 * The call ends; a second end has no effect.
		 * @return the requests to be resumed, in the order of their arrival
		 */
		List<PartlyPaid> end() {
			if (!this.ended.compareAndSet(false, true)) {
				return List.of();
			}
			return Gate.this.end(this.fetches);
		}

	}

}
