package dev.ratelimit.lease;

import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

import static org.assertj.core.api.Assertions.assertThat;

class LeasesTests {

	private final Counter counter = new Counter(
			new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "100/s")), "ann");

	private final Leases leases = new Leases();

	@Test
	void oldestIsSpentFirstWhicheverCameFirst() {
		add(10, 200);
		add(5, 100);
		assertThat(this.leases.spend(5, 0)).isNotNull();
		assertThat(this.leases.left(100)).isEqualTo(10);
	}

	@Test
	void severalPayOneRequestTogether() {
		add(3, 100);
		add(4, 200);
		add(5, 300);
		assertThat(this.leases.spend(13, 0)).isNull();
		assertThat(this.leases.left(0)).isEqualTo(12);
		assertThat(this.leases.spend(10, 0)).isNotNull();
		assertThat(this.leases.left(200)).isEqualTo(2);
		assertThat(this.leases.spend(2, 0)).isNotNull();
		assertThat(this.leases.left(0)).isZero();
	}

	@Test
	void eachEndsAtItsOwnTime() {
		add(3, 100);
		add(4, 200);
		assertThat(this.leases.left(99)).isEqualTo(7);
		assertThat(this.leases.left(100)).isEqualTo(4);
		assertThat(this.leases.spend(5, 100)).isNull();
		assertThat(this.leases.spend(4, 100)).isNotNull();
		assertThat(this.leases.isLive(199)).isTrue();
		assertThat(this.leases.isLive(200)).isFalse();
	}

	@Test
	void requestThatIsRefusedElsewherePutsBackWhatItTookOfEach() {
		add(3, 100);
		add(4, 200);
		Payment payment = this.leases.spend(5, 0);
		assertThat(payment).isNotNull();
		payment.putBack(5);
		assertThat(this.leases.left(0)).isEqualTo(7);
		assertThat(this.leases.left(100)).isEqualTo(4);
	}

	@Test
	void severalAreReadAsTheNewestThatPaid() {
		add(3, 100);
		add(4, 200);
		add(4, 300);
		Payment payment = this.leases.spend(5, 0);
		assertThat(payment).isNotNull();
		Reading reading = payment.reading(this.counter);
		assertThat(reading.time()).isEqualTo(200);
		assertThat(reading.ahead()).isEqualTo(2);
	}

	@Test
	void eachOfSeveralTellsWhenItsPermitsWereGranted() {
		add(3, 100);
		add(4, 200);
		add(4, 300);
		Payment payment = this.leases.spend(8, 0);
		assertThat(payment).isNotNull();
		assertThat(payment.reading(this.counter).taken(8, 8)).containsExactly(new Reading.Taken(300, 1),
				new Reading.Taken(200, 4), new Reading.Taken(100, 3));
		assertThat(payment.reading(this.counter).taken(8, 3)).containsExactly(new Reading.Taken(300, 1),
				new Reading.Taken(200, 2));
	}

	@Test
	void leaseThatWasTakenOutWhenSpentComesBackWithWhatIsPutBack() {
		add(3, 100);
		Payment payment = this.leases.spend(3, 0);
		assertThat(payment).isNotNull();
		assertThat(this.leases.removeEnded(0)).hasSize(1);
		payment.putBack(3);
		assertThat(this.leases.left(0)).isEqualTo(3);
		assertThat(this.leases.left(100)).isZero();
	}

	@Test
	void enoughIsMoreThanAFifthOfTheNewestInAllThatIsLeft() {
		assertThat(this.leases.areEnough(0)).isFalse();
		add(3, 100);
		add(10, 200);
		this.leases.spend(10, 0);
		assertThat(this.leases.areEnough(0)).isTrue();
		this.leases.spend(1, 0);
		assertThat(this.leases.areEnough(0)).isFalse();
	}

	@Test
	void endedAreTheSpentAndTheExpired() {
		add(3, 100);
		add(4, 200);
		add(5, 300);
		this.leases.spend(3, 0);
		assertThat(this.leases.removeEnded(200)).extracting(Lease::get).containsExactly(0L, 4L);
		assertThat(this.leases.left(0)).isEqualTo(5);
	}

	@Test
	void numberIsBoundedAndTheOldestGoes() {
		for (int i = 1; i <= 1_000; i++) {
			add(1, i);
		}
		assertThat(this.leases.left(0)).isEqualTo(16);
		assertThat(this.leases.left(999)).isEqualTo(1);
	}

	@Test
	void spentIsCountedOnce() {
		add(10, 100);
		add(10, 200);
		this.leases.spend(12, 0);
		assertThat(this.leases.spentSince()).isEqualTo(12);
		assertThat(this.leases.spentSince()).isZero();
		this.leases.spend(1, 0);
		assertThat(this.leases.spentSince()).isEqualTo(1);
	}

	private void add(long permits, long expires) {
		Grant grant = new Grant(Permits.between(1, permits), permits,
				List.of(new Reading(this.counter, new long[0], expires)), Decision.Source.REDIS);
		this.leases.add(new Lease(this.leases, grant, expires, permits / 5));
	}

}
