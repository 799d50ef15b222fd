package dev.ratelimit.admin;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ReloadClaimsTests {

	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE);

	private final ReloadClaims claims = new ReloadClaims(this.nanos::get);

	@Test
	void changeThatIsMadeAgainSoonHasANewName() {
		assertThat(this.claims.of("10 to 20")).isNotEqualTo(this.claims.of("10 to 20"))
			.isNotEqualTo(this.claims.of("20 to 10"));
	}

	@Test
	void instancesOfDifferentAgesUseTheSameName() {
		this.claims.of("10 to 20");
		pass(Duration.ofMinutes(5));
		String second = this.claims.of("10 to 20");
		pass(Duration.ofMinutes(11));
		assertThat(this.claims.of("10 to 20")).isEqualTo(new ReloadClaims(this.nanos::get).of("10 to 20"))
			.isNotEqualTo(second);
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

}
