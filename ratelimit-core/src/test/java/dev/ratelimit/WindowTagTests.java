package dev.ratelimit;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class WindowTagTests {

	@Test
	void windowsOfUpTo99OfAUnitHaveATagOfTheirOwn() {
		Map<Integer, Long> windows = new HashMap<>();
		for (long unit : new long[] { 1, 60, 3_600, 86_400 }) {
			for (long count = 1; count <= 99; count++) {
				long seconds = unit * count;
				Long other = windows.putIfAbsent(WindowTag.of(Duration.ofSeconds(seconds)), seconds);
				assertThat(other == null || other == seconds).as("%d and %d", seconds, other).isTrue();
			}
		}
	}

	@Test
	void tagsHaveAtMostThreeDigits() {
		for (long seconds = 1; seconds <= Quota.MAX_WINDOW.toSeconds(); seconds++) {
			int tag = WindowTag.of(Duration.ofSeconds(seconds));
			if (tag < 1 || tag > 999) {
				assertThat(tag).as("%d seconds", seconds).isBetween(1, 999);
			}
		}
	}

	@Test
	void windowsThatCannotBeToldApartAreNamed() {
		assertThatIllegalArgumentException().isThrownBy(
				() -> Policy.builder("orders").limit("per-user", List.of(Dimension.USER), "5/100s", "9/699s").build())
			.withMessage("policy 'orders', limit 'per-user': the windows 100s and 699s cannot share a counter, "
					+ "make one of them a second longer");
		assertThatCode(
				() -> Policy.builder("orders").limit("per-user", List.of(Dimension.USER), "5/100s", "9/701s").build())
			.doesNotThrowAnyException();
	}

	@Test
	void windowsOfATierAndOfAnOverrideCount() {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), "5/100s");
		List<Quota> other = List.of(Quota.parse("50/699s"));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.builder("orders")
				.limit(limit)
				.tier("pro", new Tier(Map.of("per-user", other), null))
				.build())
			.withMessageContaining("100s and 699s");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Policy.builder("orders")
				.limit(limit)
				.override(new PolicyOverride(Map.of(Dimension.USER, "ann"), Map.of("per-user", other)))
				.build())
			.withMessageContaining("100s and 699s");
	}

	@Test
	void limitHasAtMostNineWindows() {
		List<Duration> windows = IntStream.rangeClosed(1, 10).mapToObj(Duration::ofMinutes).toList();
		assertThatCode(() -> WindowTag.requireDistinct("per-user", windows.subList(0, 9))).doesNotThrowAnyException();
		assertThatIllegalArgumentException().isThrownBy(() -> WindowTag.requireDistinct("per-user", windows))
			.withMessage("limit 'per-user': its quotas, tiers and overrides have 10 different windows "
					+ "(1m, 2m, 3m, 4m, 5m, 6m, 7m, 8m, 9m, 10m), use at most 9");
	}

}
