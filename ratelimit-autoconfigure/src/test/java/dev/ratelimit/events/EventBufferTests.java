package dev.ratelimit.events;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

class EventBufferTests {

	private final EventBuffer buffer = new EventBuffer(3);

	@Test
	void eventsAreTakenInTheirOrder() {
		for (int round = 0; round < 5; round++) {
			assertThat(this.buffer.add(event(1)) && this.buffer.add(event(2))).isTrue();
			assertThat(this.buffer.take()).isEqualTo(event(1));
			assertThat(this.buffer.take()).isEqualTo(event(2));
			assertThat(this.buffer.take()).isNull();
			this.buffer.ended();
			this.buffer.ended();
		}
	}

	@Test
	void eventThatWasTakenHasItsPlaceUntilItHasEnded() {
		assertThat(this.buffer.add(event(1)) && this.buffer.add(event(2)) && this.buffer.add(event(3))).isTrue();
		assertThat(this.buffer.take()).isEqualTo(event(1));
		assertThat(this.buffer.add(event(4))).isFalse();
		this.buffer.ended();
		assertThat(this.buffer.add(event(4))).isTrue();
		assertThat(this.buffer.add(event(5))).isFalse();
	}

	@Test
	void closedBufferLetsNothingInAndEverythingOut() {
		this.buffer.add(event(1));
		this.buffer.close();
		this.buffer.close();
		assertThat(this.buffer.add(event(2))).isFalse();
		assertThat(this.buffer.exhausted()).isFalse();
		assertThat(this.buffer.take()).isEqualTo(event(1));
		assertThat(this.buffer.exhausted()).isTrue();
	}

	@Test
	void whatManyThreadsAddIsTakenOnceWhileItIsClosed() throws InterruptedException {
		EventBuffer buffer = new EventBuffer(100);
		Set<Long> added = new HashSet<>();
		AtomicLong number = new AtomicLong();
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			Thread thread = new Thread(() -> {
				Set<Long> mine = new HashSet<>();
				for (int n = 0; n < 50_000; n++) {
					long next = number.incrementAndGet();
					if (buffer.add(event(next))) {
						mine.add(next);
					}
				}
				synchronized (added) {
					added.addAll(mine);
				}
			});
			thread.start();
			threads.add(thread);
		}
		List<Long> taken = new ArrayList<>();
		long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
		while (!buffer.exhausted() && System.nanoTime() - deadline < 0) {
			UsageEvent event = buffer.take();
			if (event != null) {
				taken.add(event.millis());
				buffer.ended();
			}
			if (number.get() > 100_000) {
				buffer.close();
			}
		}
		for (Thread thread : threads) {
			thread.join(10_000);
		}
		assertThat(taken).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(added);
	}

	private static UsageEvent event(long number) {
		return new UsageEvent(number, Request.of("orders"), 0, 1, true, Decision.Outcome.ALLOWED, false, false, false);
	}

}
