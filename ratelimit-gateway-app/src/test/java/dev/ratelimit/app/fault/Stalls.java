package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How late a thread is that has nothing to do but to wake up each millisecond. So late is
 * everything on this machine, and whoever reads the latencies of a case should know.
 */
final class Stalls implements AutoCloseable {

	private static final long TICK = TimeUnit.MILLISECONDS.toNanos(1);

	private final Phases phases;

	private final Map<Phase, Latencies> stalls = new EnumMap<>(Phase.class);

	private volatile boolean closed;

	Stalls(Phases phases) {
		this.phases = phases;
		for (Phase phase : Phase.values()) {
			this.stalls.put(phase, new Latencies());
		}
		Thread thread = new Thread(this::run, "stalls");
		thread.setDaemon(true);
		thread.start();
	}

	Duration longest(Phase phase) {
		return this.stalls.get(phase).max();
	}

	@Override
	public void close() {
		this.closed = true;
	}

	private void run() {
		while (!this.closed) {
			long start = System.nanoTime();
			LockSupport.parkNanos(TICK);
			long late = System.nanoTime() - start - TICK;
			if (!this.closed) {
				this.stalls.get(this.phases.at(start)).record(late);
			}
		}
	}

}
