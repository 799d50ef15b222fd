package dev.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class QuotaPropertyTests {

	@Property(tries = 3_000, edgeCases = EdgeCasesMode.NONE)
	void whatIsPrintedIsReadBack(@ForAll @LongRange(min = 1, max = Quota.MAX_PERMITS) long permits,
			@ForAll @LongRange(min = 1, max = 2_678_400) long seconds,
			@ForAll @LongRange(min = 1, max = Quota.MAX_PERMITS) long burst) {
		long refillable = Math.max(1, Math.min(burst, 1_576_000_000 * permits / seconds));
		Quota quota = new Quota(permits, Duration.ofSeconds(seconds), refillable);
		assertThat(Quota.parse(quota.toString())).isEqualTo(quota);
	}

	@Property(tries = 2_000)
	void sharesOfPartsAddUpToTheQuotaAndTheLastIsTheLargest(
			@ForAll @LongRange(min = 64, max = Quota.MAX_PERMITS) long permits,
			@ForAll @LongRange(min = 64, max = Quota.MAX_PERMITS) long burst,
			@ForAll @IntRange(min = 1, max = 64) int parts) {
		Quota quota = new Quota(permits, Duration.ofSeconds(1), burst);
		List<Quota> shares = IntStream.range(0, parts).mapToObj((part) -> quota.part(part, parts)).toList();
		assertThat(shares.stream().mapToLong(Quota::permits).sum()).isEqualTo(permits);
		assertThat(shares.stream().mapToLong(Quota::burst).sum()).isEqualTo(burst);
		assertThat(shares)
			.allSatisfy((share) -> assertThat(share.burst()).isBetween(burst / parts, shares.get(parts - 1).burst()));
	}

	@Property(tries = 2_000)
	void windowInWholeUnitsIsReadBack(@ForAll @LongRange(min = 1, max = 44_640) long count) {
		for (Duration window : new Duration[] { Duration.ofMinutes(count), Duration.ofHours(count % 744 + 1),
				Duration.ofDays(count % 31 + 1) }) {
			Quota quota = Quota.of(1, window);
			assertThat(Quota.parse(quota.toString())).isEqualTo(quota);
		}
	}

	@Property(tries = 2_000)
	void anyTextIsAQuotaOrAnArgumentErrorThatQuotesIt(@ForAll String text) {
		try {
			Quota.parse(text);
		}
		catch (RuntimeException ex) {
			assertThat(ex).isExactlyInstanceOf(IllegalArgumentException.class).hasMessageStartingWith("'" + text + "'");
		}
	}

	@Property
	void permitsAndBurstBeyondTheBoundsAreRefused(
			@ForAll @LongRange(min = Quota.MAX_PERMITS + 1, max = Long.MAX_VALUE) long beyond) {
		Duration day = Duration.ofDays(1);
		for (long number : new long[] { beyond, -beyond }) {
			assertThatIllegalArgumentException().isThrownBy(() -> Quota.of(number, day))
				.withMessageStartingWith("permits must be at ")
				.withMessageEndingWith(" but was " + number);
			assertThatIllegalArgumentException().isThrownBy(() -> new Quota(1, day, number))
				.withMessageStartingWith("burst must be at ")
				.withMessageEndingWith(" but was " + number);
		}
	}

}
