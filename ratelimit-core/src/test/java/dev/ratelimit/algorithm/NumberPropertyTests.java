package dev.ratelimit.algorithm;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Lua script counts in doubles: all that it reads, computes and stores has to stay
 * below 2^53.
 */
@PropertyDefaults(tries = 3_000, edgeCases = EdgeCasesMode.NONE)
class NumberPropertyTests {

	private static final long EXACT = 1L << 53;

	@Property
	void numbersOfAQuotaAreExactDoubles(@ForAll("quotas") Quota quota) {
		for (Algorithm algorithm : Algorithm.values()) {
			assertThat(Arrays.stream(Pace.numbers(algorithm, Pace.of(List.of(quota), List.of()))))
				.allMatch((number) -> number >= 0 && number < EXACT && number == Math.rint(number));
		}
		assertThat(Pace.lifetimeMicros(Pace.of(List.of(quota), List.of()))).isBetween(1L, EXACT)
			.isLessThan(Long.MAX_VALUE / 1_000);
	}

	@Property
	void productsOfAQuotaAreExactDoubles(@ForAll("quotas") Quota quota) {
		Pace pace = new Pace(quota);
		assertThat(exact(pace.burst, pace.part)).isTrue();
		assertThat(exact(pace.burst, pace.whole)).isTrue();
		assertThat(exact(pace.permits, pace.part)).isTrue();
		// A rest that is stored, and one that is read.
		assertThat(exact(pace.permits - 1, Pace.PARTS)).isTrue();
		assertThat(exact(Pace.PARTS, pace.permits)).isTrue();
	}

	private static boolean exact(long one, long other) {
		return BigInteger.valueOf(one).multiply(BigInteger.valueOf(other)).compareTo(BigInteger.valueOf(EXACT)) < 0;
	}

	@Property(tries = 2_000)
	void statesAreExactDoubles(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.counting();
		for (Scenario.Attempt attempt : scenario.attempts()) {
			counting.attempt(attempt.time(), attempt.cost());
			assertThat(Arrays.stream(counting.state).allMatch((number) -> number >= 0 && number < EXACT)).isTrue();
		}
	}

	@Property
	void permitsTakeExactlyTheirShareOfTheWindow(@ForAll("quotas") Quota quota, @ForAll("permits") long any) {
		Pace pace = new Pace(quota);
		long permits = Math.min(any, quota.burst());
		BigInteger exact = BigInteger.valueOf(permits).multiply(BigInteger.valueOf(pace.window));
		BigInteger[] micros = exact.divideAndRemainder(BigInteger.valueOf(quota.permits()));
		assertThat(pace.micros(permits)).isEqualTo(micros[0].longValueExact());
		assertThat(pace.rest(permits)).isEqualTo(micros[1].longValueExact());
	}

	@Property
	void asManyPermitsComeBackInATimeAsFitIntoIt(@ForAll("quotas") Quota quota, @ForAll("permits") long any,
			@ForAll("permits") long more) {
		Pace pace = new Pace(quota);
		long permits = Math.min(any, quota.burst());
		long rest = more % quota.permits();
		// At, right before and a little after the moment at which the last one is back.
		for (long micros : new long[] { pace.micros(permits), pace.micros(permits) - 1, pace.micros(permits) + more }) {
			BigInteger time = BigInteger.valueOf(micros)
				.multiply(BigInteger.valueOf(quota.permits()))
				.add(BigInteger.valueOf(rest));
			long fit = (micros < 0) ? 0
					: time.divide(BigInteger.valueOf(pace.window)).min(BigInteger.valueOf(quota.burst())).longValue();
			assertThat(pace.permitsIn(micros, rest)).isEqualTo(fit);
		}
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

	@Provide
	Arbitrary<Quota> quotas() {
		return Scenarios.quota();
	}

	@Provide
	Arbitrary<Long> permits() {
		return Scenarios.permits(Quota.MAX_PERMITS);
	}

}
