package dev.ratelimit.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Real threads that do the same work at once, each with random numbers of its own.
 */
final class Threads {

	private Threads() {
	}

	static void inParallel(int threads, Consumer<SplittableRandom> work)
			throws InterruptedException, ExecutionException {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Future<?>> futures = new ArrayList<>();
			for (int thread = 0; thread < threads; thread++) {
				SplittableRandom random = new SplittableRandom(thread);
				futures.add(executor.submit(() -> work.accept(random)));
			}
			for (Future<?> future : futures) {
				future.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

}
