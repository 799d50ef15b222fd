package dev.ratelimit;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Start time and share of the callers for a version of a policy.
 *
 * @param percent share of the callers that the version decides; the previous version
 * decides the others. 0 makes the version a trial
 * @param validFrom start time, {@code null} for now
 * @param stages ascending percentages of a gradual rollout; empty for a fixed percentage
 * @param hold duration of each stage, at least 1 s
 * @param expectRefusals percentage points by which the version refuses more on purpose;
 * only more than that leads to a rollback
 */
public record Rollout(int percent, @Nullable Instant validFrom, List<Integer> stages, Duration hold,
		int expectRefusals) {

	private static final int ALL = 100;

	/** Rollouts advance once a second, so a shorter hold has no effect. */
	public static final Duration MIN_HOLD = Duration.ofSeconds(1);

	/** For all callers, now. */
	public static final Rollout COMPLETE = new Rollout(ALL, null, List.of(), Duration.ofMinutes(10));

	public Rollout {
		stages = List.copyOf(stages);
		if (percent < 0 || percent > ALL) {
			throw new IllegalArgumentException("rollout: percent must be 0 to 100 but was " + percent);
		}
		int before = 0;
		for (int stage : stages) {
			if (stage <= before || stage > ALL) {
				throw new IllegalArgumentException(
						"rollout: stages must rise from at least 1 to at most 100, for example [1, 10, 100], but were "
								+ stages);
			}
			before = stage;
		}
		if (hold.compareTo(MIN_HOLD) < 0) {
			throw new IllegalArgumentException("rollout: hold must be at least 1s but was " + hold);
		}
		if (expectRefusals < 0 || expectRefusals > ALL) {
			throw new IllegalArgumentException(
					"rollout: expect-refusals must be 0 to 100 percentage points but was " + expectRefusals);
		}
	}

	/**
	 * A rollout of a version that is not expected to refuse more.
	 */
	public Rollout(int percent, @Nullable Instant validFrom, List<Integer> stages, Duration hold) {
		this(percent, validFrom, stages, hold, 0);
	}

	/**
	 * The same rollout with another percentage.
	 */
	public Rollout withPercent(int percent) {
		return (percent == this.percent) ? this
				: new Rollout(percent, this.validFrom, this.stages, this.hold, this.expectRefusals);
	}

	/**
	 * The percentage at the start.
	 */
	public int firstPercent() {
		return this.stages.isEmpty() ? this.percent : this.stages.get(0);
	}

	/**
	 * The percentage for now: the next stage after the current one was held long enough.
	 * Never skips a stage, even if called late, because each stage must be observed.
	 * @param since when the current percentage came into force; the time before
	 * {@code validFrom} does not count
	 * @param now the current time
	 */
	public int percentAt(Instant since, Instant now) {
		Instant start = (this.validFrom != null && this.validFrom.isAfter(since)) ? this.validFrom : since;
		if (now.isBefore(start.plus(this.hold))) {
			return this.percent;
		}
		for (int stage : this.stages) {
			if (stage > this.percent) {
				return stage;
			}
		}
		return this.percent;
	}

}
