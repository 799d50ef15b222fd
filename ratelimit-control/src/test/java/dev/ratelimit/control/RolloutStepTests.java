package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Rollout;
import dev.ratelimit.control.RolloutStep.Kind;
import dev.ratelimit.policy.BucketTally;
import dev.ratelimit.policy.Tally;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is to be done about a rollout at which time.
 */
class RolloutStepTests {

	private static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

	private static final Duration HOLD = Duration.ofMinutes(10);

	@Test
	void stageIsHeldUntilItsTimeIsOver() {
		assertThat(step(1, counts(0, 0), HOLD.minusMillis(1)).kind()).isEqualTo(Kind.STAY);
	}

	@Test
	void nextStageFollowsTheHold() {
		assertThat(step(1, counts(0, 0), HOLD)).isEqualTo(new RolloutStep(Kind.ADVANCE, 10, "stage 10 % after 10m"));
		assertThat(step(10, counts(0, 0), HOLD).percent()).isEqualTo(100);
	}

	@Test
	void noStageIsSkippedHoweverLateSomebodyLooks() {
		assertThat(step(1, counts(0, 0), HOLD.multipliedBy(100)).percent()).isEqualTo(10);
	}

	@Test
	void holdBeginsWhenTheVersionIsValid() {
		Rollout later = new Rollout(1, START.plusSeconds(60), List.of(1, 10, 100), HOLD);
		assertThat(RolloutStep.of(later, START, null, START.plus(HOLD)).kind()).isEqualTo(Kind.STAY);
		assertThat(RolloutStep.of(later, START, null, START.plus(HOLD).plusSeconds(60)).kind()).isEqualTo(Kind.ADVANCE);
	}

	@Test
	void withoutAVersionBeforeTimeAloneDecides() {
		assertThat(step(1, null, HOLD).kind()).isEqualTo(Kind.ADVANCE);
	}

	@Test
	void versionThatRefusesFarMoreGoesAtOnce() {
		RolloutStep step = step(1, counts(0, 32), Duration.ofSeconds(1));
		assertThat(step.kind()).isEqualTo(Kind.ROLL_BACK);
		assertThat(step.reason())
			.isEqualTo("rolled back at 1 %: refuses 5.0 percentage points more than the version before (of 6400 "
					+ "requests that both decided, only the new one refused 320, only the old one 0)");
	}

	@Test
	void versionThatRefusesALittleMoreGoesInsteadOfTheNextStage() {
		RolloutCounts threeSigmas = counts(0, 9);
		assertThat(step(1, threeSigmas, Duration.ofSeconds(30)).kind()).isEqualTo(Kind.STAY);
		assertThat(step(1, threeSigmas, HOLD).kind()).isEqualTo(Kind.ROLL_BACK);
	}

	@Test
	void fewerCallersThanSixteenBucketsHoldTheStage() {
		List<BucketTally> few = IntStream.range(0, 64)
			.mapToObj((i) -> new BucketTally((i < 15) ? 1_000 : 0, 0, 0))
			.toList();
		assertThat(step(1, counts(few), HOLD.multipliedBy(100)).kind()).isEqualTo(Kind.STAY);
		assertThat(step(1, counts(List.of()), HOLD).kind()).isEqualTo(Kind.STAY);
	}

	@Test
	void expectedRefusalsAreNoReasonToGoBack() {
		Rollout expecting = new Rollout(1, null, List.of(1, 10, 100), HOLD, 5);
		Instant end = START.plus(HOLD);
		assertThat(RolloutStep.of(expecting, START, counts(0, 32), end).kind()).isEqualTo(Kind.ADVANCE);
		RolloutStep back = RolloutStep.of(expecting, START, counts(0, 64), end);
		assertThat(back.kind()).isEqualTo(Kind.ROLL_BACK);
		assertThat(back.reason()).contains("refuses 10.0 percentage points more")
			.contains("than the version before, expected were 5 (of");
	}

	@Test
	void expectedRefusalsStayInTheNextStage() {
		Rollout expecting = new Rollout(1, null, List.of(1, 10, 100), HOLD, 5);
		assertThat(RolloutStep.at(10, Map.of(), expecting)).isEqualTo(Map.of("rollout",
				Map.of("percent", 10, "stages", List.of(1, 10, 100), "hold", "10m", "expect-refusals", 5)));
	}

	@Test
	void lastStageIsNotTakenBackByChanceLongAfterItsHold() {
		Rollout rollout = new Rollout(10, null, List.of(1, 10), HOLD);
		Instant later = START.plus(HOLD.multipliedBy(100));
		assertThat(RolloutStep.of(rollout, START, counts(0, 9), later).kind()).isEqualTo(Kind.STAY);
		assertThat(RolloutStep.of(rollout, START, counts(0, 32), later).kind()).isEqualTo(Kind.ROLL_BACK);
	}

	@Test
	void versionThatRefusesLessGoesOn() {
		assertThat(step(1, counts(32, 0), HOLD).kind()).isEqualTo(Kind.ADVANCE);
	}

	@Test
	void stagesForEverybodyBeginWithTheFirst() {
		Rollout rollout = new Rollout(100, START, List.of(5, 100), HOLD);
		assertThat(RolloutStep.begun(Map.of("limits", Map.of()), rollout)).isEqualTo(Map.of("limits", Map.of(),
				"rollout",
				Map.of("percent", 5, "stages", List.of(5, 100), "hold", "10m", "valid-from", "2026-01-01T12:00:00Z")));
	}

	@Test
	void stagesBeginWhereTheirAuthorSays() {
		Map<String, Object> document = Map.of("rollout", Map.of("percent", 10, "stages", List.of(5, 10, 100)));
		assertThat(RolloutStep.begun(document, new Rollout(10, null, List.of(5, 10, 100), HOLD))).isSameAs(document);
	}

	@Test
	void stageReplacesTheRolloutHoweverItIsSpelt() {
		Map<String, Object> document = Map.of("Roll_Out", Map.of("stages", List.of(5, 100)));
		assertThat(RolloutStep.begun(document, new Rollout(100, null, List.of(5, 100), HOLD)))
			.containsOnlyKeys("rollout");
	}

	@Test
	void fieldsOfANewerReleaseStayInEveryStage() {
		Map<String, Object> document = Map.of("Roll-Out",
				Map.of("percent", 5, "Valid_From", "2026-01-01T12:00:00Z", "by-region", List.of("eu")));
		Rollout rollout = new Rollout(5, null, List.of(5, 10, 100), HOLD);
		assertThat(RolloutStep.at(10, document, rollout)).isEqualTo(Map.of("rollout",
				Map.of("by-region", List.of("eu"), "percent", 10, "stages", List.of(5, 10, 100), "hold", "10m")));
		assertThat(RolloutStep.at(100, document, rollout))
			.isEqualTo(Map.of("rollout", Map.of("by-region", List.of("eu"))));
	}

	@Test
	void lastStageLeavesNothingOfTheRollout() {
		Map<String, Object> document = Map.of("limits", Map.of(), "rollout", Map.of("percent", 10));
		assertThat(RolloutStep.at(100, document, new Rollout(10, START, List.of(10, 100), HOLD)))
			.isEqualTo(Map.of("limits", Map.of()));
	}

	private static RolloutStep step(int percent, RolloutCounts counts, Duration passed) {
		return RolloutStep.of(new Rollout(percent, null, List.of(1, 10, 100), HOLD), START, counts, START.plus(passed));
	}

	/** Of 100 requests in each of 64 buckets, 10 in so many buckets are refused. */
	private static RolloutCounts counts(int onlyOld, int onlyNew) {
		return counts(IntStream.range(0, 64)
			.mapToObj((i) -> new BucketTally(100, (i < onlyNew) ? 10 : 0, (i < onlyOld) ? 10 : 0))
			.toList());
	}

	private static RolloutCounts counts(List<BucketTally> buckets) {
		Tally none = new Tally(0, 0);
		return new RolloutCounts(none, none, 0, 0, 0, 0, buckets, true);
	}

}
