package dev.ratelimit.control;

import java.util.ArrayList;
import java.util.List;

import dev.ratelimit.policy.BucketTally;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.Tally;

/**
 * Decisions of two versions of a policy since the newer one was written. A request that
 * both decided, because the new version is on trial, is in one of the four numbers after
 * the tallies.
 *
 * @param onlyNewRefused requests that the change would refuse
 * @param onlyOldRefused requests that the change would allow
 * @param buckets requests that are judged, by groups of callers; empty if none are
 * @param fleet whether they are those of the whole fleet or of this instance alone
 */
public record RolloutCounts(Tally previous, Tally next, long bothAllowed, long bothRefused, long onlyNewRefused,
		long onlyOldRefused, List<BucketTally> buckets, boolean fleet) {

	/** Numbers before those of the buckets. */
	private static final int HEAD = 8;

	private static final int PER_BUCKET = 3;

	static RolloutCounts of(List<Long> numbers, boolean fleet) {
		List<BucketTally> buckets = new ArrayList<>();
		for (int i = HEAD; i + PER_BUCKET <= numbers.size(); i += PER_BUCKET) {
			buckets.add(new BucketTally(numbers.get(i), numbers.get(i + 1), numbers.get(i + 2)));
		}
		return new RolloutCounts(tally(numbers.get(0), numbers.get(1)), tally(numbers.get(2), numbers.get(3)),
				numbers.get(4), numbers.get(5), numbers.get(6), numbers.get(7), List.copyOf(buckets), fleet);
	}

	/** The numbers of this instance, in the order of the sums. */
	static List<Long> numbers(Comparison comparison) {
		Tally previous = comparison.ofPrevious();
		Tally next = comparison.ofNew();
		List<Long> numbers = new ArrayList<>(List.of(previous.decisions(), previous.refusals(), next.decisions(),
				next.refusals(), comparison.bothAllowed(), comparison.bothRefused(), comparison.onlyNewRefused(),
				comparison.onlyOldRefused()));
		if (comparison.judges()) {
			comparison.buckets()
				.forEach((bucket) -> numbers
					.addAll(List.of(bucket.decisions(), bucket.onlyNewRefused(), bucket.onlyOldRefused())));
		}
		return numbers;
	}

	/** Sums with lost additions must not violate the checks of a tally. */
	private static Tally tally(long decisions, long refusals) {
		long refused = Math.max(0, refusals);
		return new Tally(Math.max(decisions, refused), refused);
	}

}
