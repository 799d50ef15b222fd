package dev.ratelimit.redis;

import dev.ratelimit.Work;
import dev.ratelimit.counter.NodeCall;

/**
 * How much work a round of a {@link Lane} may be. A request that is sent and then times
 * out costs Redis as much as any other, brings nothing, and counts against the node. So
 * no more is sent than is answered well before the deadline; the rest waits, and what has
 * waited for too long is never sent.
 *
 * <p>
 * One call at first. Half as much after a round that took more than half of the time its
 * requests have, one call after a round without an answer, and twice as much after a full
 * round that took less than a quarter. Threads may overwrite each other's changes, which
 * the next round makes up for.
 */
final class RoundSize {

	/** About 4 ms of Redis's time. */
	static final int MOST = 8 * Work.OF_A_CALL;

	static final int LEAST = Work.OF_A_CALL;

	private volatile int work = LEAST;

	private volatile long took;

	int work() {
		return this.work;
	}

	/**
	 * A round was answered.
	 * @param sent its work
	 * @param took nanoseconds until the last answer
	 * @param timeout nanoseconds that its most impatient request may take in all
	 */
	void answered(int sent, long took, long timeout) {
		int work = this.work;
		this.took = took;
		if (took > timeout / 2) {
			this.work = Math.max(LEAST, work / 2);
		}
		else if (sent >= work && took < timeout / 4) {
			this.work = Math.min(MOST, work * 2);
		}
	}

	/**
	 * Nanoseconds that the last round took. A request that has more time left is not too
	 * late.
	 */
	long took() {
		return this.took;
	}

	/**
	 * Whether a request has waited so long that its answer would come too late. A request
	 * that has more than half of its time left is always sent: otherwise one slow round
	 * could keep impatient requests from being sent for ever.
	 */
	boolean isTooLate(NodeCall request, long now) {
		long left = request.deadline() - now;
		return left < 0 || left < this.took && left < (request.deadline() - request.start()) / 2;
	}

	/**
	 * All requests of a round have timed out.
	 */
	void lost() {
		this.work = LEAST;
	}

}
