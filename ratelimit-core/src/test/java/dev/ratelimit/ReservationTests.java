package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ReservationTests {

	private static final Duration EXPIRY = Duration.ofSeconds(5);

	private final AtomicLong nanos = new AtomicLong(1_000);

	private final List<Long> givenBack = new ArrayList<>();

	@Test
	void permitsAreSpentUntilNoneIsLeft() {
		Reservation reservation = reservation(10);
		assertThat(reservation.spend(4)).isTrue();
		assertThat(reservation.remaining()).isEqualTo(6);
		assertThat(reservation.spend(6)).isTrue();
		assertThat(reservation.spend(1)).isFalse();
	}

	@Test
	void spendingMoreThanIsLeftSpendsNothing() {
		Reservation reservation = reservation(10);
		assertThat(reservation.spend(11)).isFalse();
		assertThat(reservation.remaining()).isEqualTo(10);
	}

	@Test
	void onlyWhatWasGrantedIsThere() {
		Reservation reservation = reservation(3);
		assertThat(reservation.decision().cost()).isEqualTo(10);
		assertThat(reservation.remaining()).isEqualTo(3);
	}

	@Test
	void negativePermitsAreAnArgumentError() {
		assertThatIllegalArgumentException().isThrownBy(() -> reservation(10).spend(-1))
			.withMessage("permits must not be negative but was -1");
	}

	@Test
	void expiresExactlyWhenItSays() {
		Reservation reservation = reservation(10);
		this.nanos.addAndGet(EXPIRY.toNanos() - 1);
		assertThat(reservation.spend(1)).isTrue();
		assertThat(reservation.remaining()).isEqualTo(9);
		this.nanos.incrementAndGet();
		assertThat(reservation.spend(1)).isFalse();
		assertThat(reservation.spend(0)).isFalse();
		assertThat(reservation.remaining()).isZero();
	}

	@ParameterizedTest
	@ValueSource(longs = { Long.MAX_VALUE, Long.MAX_VALUE - 1, -1, Long.MIN_VALUE })
	void clockMayWrapAround(long start) {
		this.nanos.set(start);
		Reservation reservation = reservation(10);
		assertThat(reservation.spend(1)).isTrue();
		this.nanos.addAndGet(EXPIRY.toNanos() - 1);
		assertThat(reservation.spend(1)).isTrue();
		this.nanos.incrementAndGet();
		assertThat(reservation.spend(1)).isFalse();
	}

	@Test
	void releaseGivesBackWhatWasNotSpent() {
		Reservation reservation = reservation(10);
		reservation.spend(4);
		assertThat(reservation.release()).isCompleted();
		assertThat(this.givenBack).containsExactly(6L);
		assertThat(reservation.remaining()).isZero();
		assertThat(reservation.spend(1)).isFalse();
	}

	@Test
	void secondReleaseGivesNothingBack() {
		Reservation reservation = reservation(10);
		reservation.release();
		assertThat(reservation.release()).isCompleted();
		assertThat(this.givenBack).containsExactly(10L);
	}

	@Test
	void releaseOfWhatIsSpentGivesNothingBack() {
		Reservation reservation = reservation(10);
		reservation.spend(10);
		assertThat(reservation.release()).isCompleted();
		assertThat(this.givenBack).isEmpty();
	}

	@Test
	void releaseAfterExpiryGivesNothingBack() {
		Reservation reservation = reservation(10);
		this.nanos.addAndGet(EXPIRY.toNanos());
		assertThat(reservation.release()).isCompleted();
		assertThat(this.givenBack).isEmpty();
	}

	@Test
	void limiterReservesByCheckingOnce() {
		List<Request> requests = new ArrayList<>();
		RateLimiter limiter = (request) -> {
			requests.add(request);
			return CompletableFuture.completedStage(decision(request.cost(), 8));
		};
		Request request = Request.of("orders").withCost(10).atLeast(5);
		Reservation reservation = limiter.reserve(request, Duration.ofHours(1)).toCompletableFuture().join();
		assertThat(reservation.remaining()).isEqualTo(8);
		assertThat(requests).containsExactly(request);
	}

	@Test
	void permitIsSpentOrGivenBackButNeverBoth() throws InterruptedException {
		for (int round = 0; round < 200; round++) {
			this.givenBack.clear();
			Reservation reservation = reservation(1_000);
			AtomicLong spent = new AtomicLong();
			CountDownLatch start = new CountDownLatch(1);
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < 3; i++) {
				threads.add(new Thread(() -> {
					start.countDown();
					while (reservation.spend(1)) {
						spent.incrementAndGet();
					}
				}));
			}
			threads.forEach(Thread::start);
			start.await();
			reservation.release();
			for (Thread thread : threads) {
				thread.join();
			}
			long given = this.givenBack.stream().mapToLong(Long::longValue).sum();
			assertThat(spent.get() + given).isEqualTo(1_000);
		}
	}

	private Reservation reservation(long granted) {
		return new Reservation(decision(10, granted), EXPIRY, this.nanos::get);
	}

	private Decision decision(long cost, long granted) {
		return new Decision("orders", 1, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS, Decision.Source.MEMORY,
				false, null, cost, granted, List.of(), (permits) -> {
					this.givenBack.add(permits);
					return CompletableFuture.completedStage(null);
				});
	}

}
