package dev.ratelimit.benchmarks.load;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.common.TimeLeft;

/**
 * Sends a number of asynchronous calls as fast as they are answered, with a bounded
 * number in flight, and shows how far it has come.
 */
public final class BoundedLoad {

	private static final int IN_FLIGHT = 4_096;

	private final String name;

	private final int numbers;

	private final int rounds;

	private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

	/**
	 * Creates a load.
	 * @param name shown with the progress
	 * @param numbers each round goes over 0 to this, exclusively
	 * @param rounds how often
	 */
	public BoundedLoad(String name, int numbers, int rounds) {
		this.name = name;
		this.numbers = numbers;
		this.rounds = rounds;
	}

	/**
	 * Makes all calls and returns when they were answered; the first failure is thrown.
	 */
	public void run(IntFunction<CompletionStage<?>> call) {
		Semaphore room = new Semaphore(IN_FLIGHT);
		TimeLeft left = new TimeLeft(this.name, (long) this.numbers * this.rounds);
		for (int round = 0; round < this.rounds; round++) {
			for (int number = 0; number < this.numbers; number++) {
				room.acquireUninterruptibly();
				call.apply(number).whenComplete((answer, problem) -> {
					if (problem != null) {
						this.failure.compareAndSet(null, problem);
					}
					room.release();
				});
				left.at((long) round * this.numbers + number + 1);
			}
		}
		room.acquireUninterruptibly(IN_FLIGHT);
		Throwable problem = this.failure.get();
		if (problem != null) {
			throw new IllegalStateException(this.name + ": a call failed", problem);
		}
	}

}
