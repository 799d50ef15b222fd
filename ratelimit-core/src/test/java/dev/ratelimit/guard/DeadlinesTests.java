package dev.ratelimit.guard;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class DeadlinesTests {

	private final Deadlines deadlines = new Deadlines(Runnable::run);

	@AfterEach
	void close() {
		this.deadlines.close();
	}

	@Test
	void callThatIsNotAnsweredIsToldAfterItsTimeoutAndNotBefore() {
		List<Call> calls = new ArrayList<>();
		for (int millis : new int[] { 1, 2, 5, 20, 50, 511, 512, 513, 700 }) {
			calls.add(new Call(millis));
		}
		calls.forEach((call) -> this.deadlines.add(call, Duration.ofMillis(call.millis)));
		await().atMost(Duration.ofSeconds(10)).until(() -> calls.stream().allMatch(Call::isDone));
		assertThat(calls)
			.allSatisfy((call) -> assertThat(call.join()).isGreaterThanOrEqualTo(call.millis * 1_000_000L));
	}

	@Test
	void callWhoseDeadlineHasPassedIsToldAtOnce() {
		Call call = new Call(0);
		this.deadlines.add(call, System.nanoTime() - Duration.ofSeconds(2).toNanos());
		await().atMost(Duration.ofSeconds(5)).until(call::isDone);
	}

	@Test
	void shorterDeadlineThatComesLaterIsNotHeldUpByALongerOne() {
		Call later = new Call(60_000);
		this.deadlines.add(later, Duration.ofMinutes(1));
		Call sooner = new Call(5);
		this.deadlines.add(sooner, Duration.ofMillis(5));
		await().atMost(Duration.ofSeconds(5)).until(sooner::isDone);
		assertThat(later).isNotDone();
	}

	@Test
	void answeredCallIsNotTold() {
		AtomicInteger told = new AtomicInteger();
		this.deadlines.add(told::incrementAndGet, Duration.ofMillis(10)).cancel();
		Call after = new Call(20);
		this.deadlines.add(after, Duration.ofMillis(20));
		await().atMost(Duration.ofSeconds(5)).until(after::isDone);
		assertThat(told).hasValue(0);
	}

	@Test
	void answeredCallsDoNotWakeTheWheel() {
		Thread wheel = Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("ratelimit-deadlines"))
			.max(Comparator.comparingLong(Thread::getId))
			.orElseThrow();
		for (int millis = 100; millis < 300; millis++) {
			this.deadlines.add(() -> {
			}, Duration.ofMillis(millis)).cancel();
		}
		Call last = new Call(320);
		this.deadlines.add(last, Duration.ofMillis(320));
		await().until(() -> wheel.getState() == Thread.State.TIMED_WAITING);
		long before = waits(wheel);
		await().atMost(Duration.ofSeconds(5)).until(last::isDone);
		assertThat(waits(wheel) - before).isLessThan(20);
	}

	private static long waits(Thread thread) {
		return ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId()).getWaitedCount();
	}

	@Test
	void noneOfManyFromManyThreadsIsForgotten() throws InterruptedException {
		int threads = 4;
		int each = 20_000;
		CountDownLatch told = new CountDownLatch(threads * each);
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		IntStream.range(0, threads).forEach((thread) -> executor.execute(() -> {
			for (int i = 0; i < each; i++) {
				this.deadlines.add(new Counting(told), Duration.ofNanos((i % 30) * 333_333L));
			}
		}));
		assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
		executor.shutdown();
	}

	private static final class Call extends CompletableFuture<Long> implements Runnable {

		private final long start = System.nanoTime();

		private final long millis;

		Call(long millis) {
			this.millis = millis;
		}

		@Override
		public void run() {
			complete(System.nanoTime() - this.start);
		}

	}

	private static final class Counting extends CompletableFuture<Void> implements Runnable {

		private final CountDownLatch told;

		Counting(CountDownLatch told) {
			this.told = told;
		}

		@Override
		public void run() {
			if (complete(null)) {
				this.told.countDown();
			}
		}

	}

}
