package dev.ratelimit.control;

import java.util.List;

import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.Tally;

/**
 * What two versions of a policy have decided since the newer one was written.
 *
 * @param previous what the version before decided
 * @param next what the new version decided
 * @param bothAllowed requests that both decided, as they do where the new one is only
 * tried out
 * @param bothRefused see there
 * @param onlyNewRefused what the change would turn away
 * @param onlyOldRefused what it would let pass
 * @param fleet whether the whole fleet counted, or this instance alone
 */
public record RolloutCounts(Tally previous, Tally next, long bothAllowed, long bothRefused, long onlyNewRefused,
		long onlyOldRefused, boolean fleet) {

	static RolloutCounts of(List<Long> numbers, boolean fleet) {
		return new RolloutCounts(tally(numbers.get(0), numbers.get(1)), tally(numbers.get(2), numbers.get(3)),
				numbers.get(4), numbers.get(5), numbers.get(6), numbers.get(7), fleet);
	}

	/**
	 * What this instance has counted, as it is added up.
	 */
	static List<Long> numbers(Comparison comparison) {
		Tally previous = comparison.ofPrevious();
		Tally next = comparison.ofNew();
		return List.of(previous.decisions(), previous.refusals(), next.decisions(), next.refusals(),
				comparison.bothAllowed(), comparison.bothRefused(), comparison.onlyNewRefused(),
				comparison.onlyOldRefused());
	}

	/** Sums of what others sent are not to be trusted with an exception. */
	private static Tally tally(long decisions, long refusals) {
		long refused = Math.max(0, refusals);
		return new Tally(Math.max(decisions, refused), refused);
	}

}
