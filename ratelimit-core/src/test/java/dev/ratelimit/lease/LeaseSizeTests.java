package dev.ratelimit.lease;

import java.time.Duration;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A caller that spends 1,000 permits a second, so 100 in a refresh interval. */
class LeaseSizeTests {

	private static final long INTERVAL = Duration.ofMillis(100).toNanos();

	private static final long PLENTY = 1_000_000;

	private final LeaseSize size = new LeaseSize();

	@BeforeEach
	void spend() {
		this.size.spent(1_000, Duration.ofSeconds(1).toNanos(), INTERVAL);
	}

	@Test
	void isWhatIsSpentInAnInterval() {
		assertThat(next()).isEqualTo(100);
		assertThat(this.size.next(6 * INTERVAL, PLENTY)).isEqualTo(600);
	}

	@Test
	void growsByOneForEachLeaseThatWasSpent() {
		for (int spent = 1; spent <= 10; spent++) {
			this.size.ended(0);
			assertThat(next()).isEqualTo(100 + spent);
		}
	}

	@Test
	void halvesWhenRefusedAndGrowsByOneAfterwards() {
		this.size.refused(100);
		assertThat(next()).isEqualTo(50);
		this.size.refused(50);
		assertThat(next()).isEqualTo(25);
		this.size.ended(0);
		assertThat(next()).isEqualTo(26);
		this.size.ended(0);
		assertThat(next()).isEqualTo(27);
	}

	@Test
	void isAtLeastOneHoweverOftenItIsRefused() {
		for (long wanted = 100; wanted > 1; wanted = next()) {
			this.size.refused(wanted);
		}
		this.size.refused(1);
		assertThat(next()).isEqualTo(1);
	}

	@Test
	void takesBackWhatItGrewByWhenPermitsExpire() {
		for (int spent = 0; spent < 50; spent++) {
			this.size.ended(0);
			next();
		}
		this.size.ended(30);
		assertThat(next()).isEqualTo(120);
		this.size.ended(80);
		assertThat(next()).isEqualTo(100);
	}

	@Test
	void doesNotPileUpWhatItCouldNotAskFor() {
		for (int spent = 0; spent < 50; spent++) {
			this.size.ended(0);
			assertThat(this.size.next(INTERVAL, 10)).isEqualTo(10);
		}
		assertThat(next()).isEqualTo(100);
	}

	@Test
	void timeWeighsAsMuchAsItLasted() {
		// A flood of 1 ms is hardly seen, one that lasts is.
		this.size.spent(100, Duration.ofMillis(1).toNanos(), INTERVAL);
		assertThat(next()).isBetween(150L, 250L);
		this.size.spent(100_000, Duration.ofSeconds(1).toNanos(), INTERVAL);
		assertThat(next()).isBetween(9_000L, 10_000L);
	}

	private long next() {
		return this.size.next(INTERVAL, PLENTY);
	}

}
