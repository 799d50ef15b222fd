package dev.ratelimit.lease;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

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
 * A request waits only for calls that end before its own deadline, and a call always
 * ends, by its deadline at the latest. If a call that began later ends after the deadline
 * of a request, the request goes on with the next end. So no request waits too long, and
 * no timer is needed.
 */
final class Gate {

	/** As in a lane: at low load a request never waits for another one. */
	private static final int MOST_CALLS = 2;

	private int calls;

	private int fetches;

	/** The latest deadline of the calls under way. */
	private long latest;

	private @Nullable Deque<PartlyPaid> waiting;

	/**
	 * Asks whether a request must wait. It is then resumed when a call ends.
	 * @param deadline of the request
	 */
	synchronized boolean await(PartlyPaid request, long deadline) {
		return (this.calls >= MOST_CALLS || this.fetches > 0) && add(request, deadline);
	}

	/**
	 * Asks whether a request that has waited must wait again, for a lease.
	 * @param deadline of the request
	 */
	synchronized boolean awaitLease(PartlyPaid request, long deadline) {
		return this.fetches > 0 && add(request, deadline);
	}

	private boolean add(PartlyPaid request, long deadline) {
		if (this.latest - deadline > 0) {
			return false;
		}
		this.waiting = (this.waiting != null) ? this.waiting : new ArrayDeque<>();
		this.waiting.add(request);
		return true;
	}

	/**
	 * A call begins.
	 * @param deadline when it ends at the latest
	 */
	synchronized Pass begin(long deadline) {
		if (this.calls == 0 || deadline - this.latest > 0) {
			this.latest = deadline;
		}
		this.calls++;
		return new Pass();
	}

	private synchronized void fetches() {
		this.fetches++;
	}

	private synchronized List<PartlyPaid> end(boolean fetches) {
		this.calls--;
		this.fetches -= fetches ? 1 : 0;
		if (this.waiting == null) {
			return List.of();
		}
		if (this.calls >= MOST_CALLS || this.fetches > 0) {
			return impatient(this.waiting);
		}
		List<PartlyPaid> resumed = List.copyOf(this.waiting);
		this.waiting = null;
		return resumed;
	}

	/** Removes requests that cannot wait for all calls under way. */
	private List<PartlyPaid> impatient(Deque<PartlyPaid> waiting) {
		List<PartlyPaid> impatient = new ArrayList<>(0);
		waiting.removeIf((request) -> request.deadline() - this.latest < 0 && impatient.add(request));
		return impatient;
	}

	/**
	 * A call under way. Used by one thread at a time.
	 */
	final class Pass {

		private boolean fetches;

		private boolean ended;

		private Pass() {
		}

		/**
		 * The call also fetches a lease.
		 */
		void fetches() {
			this.fetches = true;
			Gate.this.fetches();
		}

		/**
		 * The call ends; a second end has no effect.
		 * @return the requests to be resumed, in the order of their arrival
		 */
		List<PartlyPaid> end() {
			if (this.ended) {
				return List.of();
			}
			this.ended = true;
			return Gate.this.end(this.fetches);
		}

	}

}
