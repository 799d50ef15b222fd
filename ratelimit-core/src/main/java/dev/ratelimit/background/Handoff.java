package dev.ratelimit.background;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Bounded queue from threads that must not wait to the one that does the work. Has no
 * lock, since event loops put items in.
 */
public final class Handoff<T> {

	private final int capacity;

	private final Queue<T> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger size = new AtomicInteger();

	public Handoff(int capacity) {
		this.capacity = capacity;
	}

	/**
	 * Adds an item.
	 * @return whether there was room
	 */
	public boolean offer(T item) {
		if (this.size.incrementAndGet() > this.capacity) {
			this.size.decrementAndGet();
			return false;
		}
		return this.waiting.add(item);
	}

	/**
	 * Takes what waits, the oldest first, up to the capacity: more may keep coming.
	 */
	public List<T> take() {
		List<T> batch = new ArrayList<>();
		while (batch.size() < this.capacity) {
			T item = this.waiting.poll();
			if (item == null) {
				break;
			}
			batch.add(item);
		}
		this.size.addAndGet(-batch.size());
		return batch;
	}

}
