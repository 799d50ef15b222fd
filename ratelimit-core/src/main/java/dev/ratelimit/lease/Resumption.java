package dev.ratelimit.lease;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Lets requests go on that have waited. A request may end a call at once, as with an open
 * breaker, and resume others: these follow in the same loop, or the stack would grow with
 * each of them.
 */
final class Resumption {

	private static final ThreadLocal<@Nullable Deque<PartlyPaid>> RESUMING = new ThreadLocal<>();

	private Resumption() {
	}

	static void resume(List<PartlyPaid> requests) {
		if (requests.isEmpty()) {
			return;
		}
		Deque<PartlyPaid> running = RESUMING.get();
		if (running != null) {
			running.addAll(requests);
			return;
		}
		Deque<PartlyPaid> queue = new ArrayDeque<>(requests);
		RESUMING.set(queue);
		try {
			resumeAll(queue);
		}
		finally {
			RESUMING.remove();
		}
	}

	/** One that fails does not hold up the others. */
	private static void resumeAll(Deque<PartlyPaid> queue) {
		Throwable failure = null;
		for (PartlyPaid next = queue.poll(); next != null; next = queue.poll()) {
			try {
				next.resume();
			}
			catch (Throwable ex) {
				failure = ex;
			}
		}
		if (failure != null) {
			throw new IllegalStateException("A request that had waited could not go on", failure);
		}
	}

}
