package dev.ratelimit.refusal;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * What waits to be written: bounded, and without a lock, as event loops put things in.
 */
final class RefusalQueue {

	private static final int MOST = 2_000;

	private final Queue<Noticed> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger size = new AtomicInteger();

	boolean offer(Noticed noticed) {
		if (this.size.incrementAndGet() > MOST) {
			this.size.decrementAndGet();
			return false;
		}
		return this.waiting.add(noticed);
	}

	@Nullable Noticed poll() {
		Noticed noticed = this.waiting.poll();
		if (noticed != null) {
			this.size.decrementAndGet();
		}
		return noticed;
	}

}
