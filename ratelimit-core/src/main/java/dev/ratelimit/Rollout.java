package dev.ratelimit;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * How a version of a policy is brought to its callers.
 *
 * @param percent share of the callers that the version is for; the others keep the one
 * before it. 0 tries it beside that one
 * @param validFrom when it starts, {@code null} for at once
 * @param stages the percentages that it goes through, rising; none if it stays as it is
 * @param hold how long it stays at each of them
 */
public record Rollout(int percent, @Nullable Instant validFrom, List<Integer> stages, Duration hold) {

	private static final int ALL = 100;

	/** Rollouts are looked at once a second: a shorter hold could not be kept. */
	public static final Duration MIN_HOLD = Duration.ofSeconds(1);

	/** For everybody and at once. */
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
	}

	/**
	 * The same with another share of the callers.
	 */
	public Rollout withPercent(int percent) {
		return (percent == this.percent) ? this : new Rollout(percent, this.validFrom, this.stages, this.hold);
	}

	/**
	 * The percentage to begin with.
	 */
	public int firstPercent() {
		return this.stages.isEmpty() ? this.percent : this.stages.get(0);
	}

	/**
	 * The percentage that is due: the next stage's once the present one was held long
	 * enough. Never skips one, however late somebody asks, as each has to be looked at.
	 * @param since when the present percentage came into force; the time before
	 * {@code validFrom} does not count
	 * @param now the time
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
