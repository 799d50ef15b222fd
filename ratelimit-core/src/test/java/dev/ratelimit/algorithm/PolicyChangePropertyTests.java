package dev.ratelimit.algorithm;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

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
 * A limit that is changed while it is used: no free reset, and nobody locked out.
 */
@PropertyDefaults(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
class PolicyChangePropertyTests {

	@Property
	void bucketKeepsTheUsedShareWithinOnePermit(@ForAll("plainBuckets") Scenario scenario,
			@ForAll("permits") long permits) {
		Quota old = scenario.quotas().get(0);
		Quota changed = Quota.of(permits, old.window());
		Counting before = scenario.used();
		Counting after = before.under(scenario.algorithm(), List.of(changed));
		long now = before.time;
		long remaining = before.remaining(0, now);
		assertThat(after.remaining(0, now)).isBetween(share(remaining, old, changed) - 1 - perMicro(changed),
				share(remaining + 1, old, changed) + 1 + perMicro(changed));
	}

	/** Below: what it would be if permits could be split. */
	private static long share(long remaining, Quota old, Quota changed) {
		return BigInteger.valueOf(remaining)
			.multiply(BigInteger.valueOf(changed.permits()))
			.divide(BigInteger.valueOf(old.permits()))
			.longValueExact();
	}

	/**
	 * A time is carried over to the microsecond, which is more than a permit where a
	 * window has more than a million of them a second.
	 */
	private static long perMicro(Quota quota) {
		return quota.permits() / (quota.window().toSeconds() * 1_000_000);
	}

	@Property
	void windowKeepsTheUsedCount(@ForAll("plainWindows") Scenario scenario, @ForAll("permits") long any) {
		Quota old = scenario.quotas().get(0);
		Quota changed = Quota.of((any - 1) % 10_000 + 1, old.window());
		Counting before = scenario.used();
		Counting after = before.under(scenario.algorithm(), List.of(changed));
		long now = before.time;
		long used = old.permits() - before.remaining(0, now);
		assertThat(after.remaining(0, now)).isEqualTo(Math.max(0, changed.permits() - used));
		assertThat(after.resetAfter(0, now)).isEqualTo(before.resetAfter(0, now));
	}

	@Property
	void quotasKeepTheirStateWhenOthersAreAddedRemovedOrReordered(@ForAll("scenarios") Scenario scenario,
			@ForAll("quotas") Quota any) {
		Quota added = scenario.algorithm().hasBurst() ? any : Quota.of(any.permits(), any.window());
		Counting before = scenario.used();
		SplittableRandom random = scenario.random();
		long now = before.time;
		List<Quota> changed = new ArrayList<>(scenario.quotas());
		Collections.shuffle(changed, new Random(scenario.seed()));
		if (changed.size() > 1 && random.nextBoolean()) {
			changed.remove(0);
		}
		boolean known = scenario.quotas().stream().anyMatch((quota) -> new Pace(quota).tag == new Pace(added).tag);
		if (!known) {
			changed.add(random.nextInt(changed.size() + 1), added);
		}
		Counting after = before.under(scenario.algorithm(), changed);
		for (int quota = 0; quota < changed.size(); quota++) {
			int old = scenario.quotas().indexOf(changed.get(quota));
			if (old >= 0) {
				assertThat(Observed.of(after, quota, now)).isEqualTo(Observed.of(before, old, now));
			}
			else if (scenario.algorithm() != Algorithm.SLIDING_WINDOW_LOG) {
				assertThat(after.remaining(quota, now)).isEqualTo(added.burst());
			}
		}
	}

	@Property
	void changedLimitAdmitsOneAfterTwoWindowsOrOneBurst(@ForAll("scenarios") Scenario scenario,
			@ForAll("quotas") Quota any) {
		Quota old = scenario.quotas().get(0);
		Quota changed = scenario.algorithm().hasBurst() ? new Quota(any.permits(), old.window(), 1)
				: Quota.of(any.permits(), old.window());
		Counting after = scenario.used().under(scenario.algorithm(), List.of(changed));
		SplittableRandom random = scenario.random();
		long window = old.window().toSeconds() * 1_000_000;
		long permit = window / changed.permits() + 2;
		long longest = scenario.algorithm().hasBurst() ? 2 * permit : 2 * window;
		long start = after.time;
		long time = start;
		while (time < start + longest) {
			assertThat(after.attempt(time, changed.burst() + 1)).isFalse();
			time += 1 + random.nextLong(longest);
		}
		assertThat(after.attempt(start + longest, 1)).isTrue();
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

	@Provide
	Arbitrary<Scenario> plainBuckets() {
		return Scenarios.plain(Algorithm.GCRA, Algorithm.TOKEN_BUCKET);
	}

	@Provide
	Arbitrary<Scenario> plainWindows() {
		return Scenarios.plain(Algorithm.SLIDING_WINDOW_COUNTER, Algorithm.SLIDING_WINDOW_LOG, Algorithm.FIXED_WINDOW);
	}

	@Provide
	Arbitrary<Long> permits() {
		return Scenarios.permits(Quota.MAX_PERMITS);
	}

	@Provide
	Arbitrary<Quota> quotas() {
		return Scenarios.quota();
	}

}
