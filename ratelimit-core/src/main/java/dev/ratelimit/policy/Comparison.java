package dev.ratelimit.policy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;

/**
 * Counts the decisions of two versions of a policy that are in force at the same time, in
 * this instance. During a trial it also counts how often both versions agree about the
 * same request.
 *
 * <p>
 * During a rollout with stages it counts, in buckets of callers, the requests that both
 * versions decided in counters of their own: only these are judged. The buckets get one
 * request in 40 at most, and one bucket a sixteenth of these, so that comparing adds at
 * most 5 % to the decisions even if a large caller is in the sample. Requests beyond that
 * are left out for both versions alike, which favours neither.
 */
public final class Comparison {

	/** One request compared costs two decisions: 2 of 40 are 5 %. */
	private static final int REQUESTS_PER_PAIR = 40;

	/** A bucket gets this part of all pairs at most. */
	private static final int LARGEST_PART = 16;

	/** Pairs before the bounds begin: the first callers say nothing about the share. */
	private static final int FREE_PAIRS = 100;

	private static final int NUMBERS = 3;

	private final long previous;

	private final long next;

	private final @Nullable Duration judgedWindow;

	private final Count ofPrevious = new Count();

	private final Count ofNext = new Count();

	private final LongAdder bothAllowed = new LongAdder();

	private final LongAdder bothRefused = new LongAdder();

	private final LongAdder onlyNewRefused = new LongAdder();

	private final LongAdder onlyOldRefused = new LongAdder();

	/** Decisions, only-new-refused and only-old-refused of each bucket. */
	private final AtomicLongArray buckets = new AtomicLongArray(CallerShare.BUCKETS * NUMBERS);

	/** Pairs that were begun, by bucket; the last number is their sum. */
	private final AtomicLongArray pairs = new AtomicLongArray(CallerShare.BUCKETS + 1);

	/**
	 * @param judgedWindow the longest window that is judged, {@code null} if none is
	 */
	Comparison(long previous, long next, @Nullable Duration judgedWindow) {
		this.previous = previous;
		this.next = next;
		this.judgedWindow = judgedWindow;
	}

	boolean isOf(long previous, long next) {
		return this.previous == previous && this.next == next;
	}

	public long previousVersion() {
		return this.previous;
	}

	public long newVersion() {
		return this.next;
	}

	/**
	 * Counts a decision if one of the two versions made it.
	 * @return whether one did; lists, the switch and failure modes decide the same for
	 * either version
	 */
	public boolean decided(Decision decision) {
		Boolean refused = refused(decision);
		if (refused != null && decision.version() == this.next) {
			this.ofNext.add(refused);
		}
		else if (refused != null && decision.version() == this.previous) {
			this.ofPrevious.add(refused);
		}
		return refused != null;
	}

	/**
	 * Counts the decisions of both versions about one request, if both made one.
	 */
	public void decided(Decision previous, Decision next) {
		Boolean old = refused(previous);
		Boolean fresh = refused(next);
		if (old != null && fresh != null) {
			(old ? (fresh ? this.bothRefused : this.onlyOldRefused) : (fresh ? this.onlyNewRefused : this.bothAllowed))
				.increment();
		}
	}

	/**
	 * Whether the buckets have room for another request. A caller that gets it compares
	 * the request.
	 */
	public boolean admits(int bucket) {
		long decisions = this.ofPrevious.decisions.sum() + this.ofNext.decisions.sum();
		long most = FREE_PAIRS + decisions / REQUESTS_PER_PAIR;
		if (this.pairs.get(CallerShare.BUCKETS) >= most || this.pairs.get(bucket) >= FREE_PAIRS + most / LARGEST_PART) {
			return false;
		}
		this.pairs.incrementAndGet(CallerShare.BUCKETS);
		this.pairs.incrementAndGet(bucket);
		return true;
	}

	/**
	 * Counts a request that both versions decided in its bucket, if it tells them apart:
	 * a window that is not longer than the hold was asked, or one version alone turned
	 * the caller away. A refusal by longer windows alone is not counted: such a counter
	 * needs longer than the stage lasts to show what its quota does.
	 */
	public void compared(int bucket, Decision previous, Decision next) {
		Duration longest = this.judgedWindow;
		Boolean old = refused(previous);
		Boolean fresh = refused(next);
		if (longest == null || old == null || fresh == null || !isEvidence(previous, next, longest)
				|| isByLongerWindows(previous, longest) || isByLongerWindows(next, longest)) {
			return;
		}
		this.buckets.incrementAndGet(bucket * NUMBERS);
		if (!old.equals(fresh)) {
			this.buckets.incrementAndGet(bucket * NUMBERS + (fresh ? 1 : 2));
		}
	}

	private static boolean isEvidence(Decision previous, Decision next, Duration longest) {
		return isTurnedAway(previous) != isTurnedAway(next)
				|| Stream.concat(previous.limits().stream(), next.limits().stream())
					.anyMatch((status) -> !isLonger(status, longest));
	}

	private static boolean isTurnedAway(Decision decision) {
		return decision.outcome() == Decision.Outcome.DENIED;
	}

	private static boolean isByLongerWindows(Decision decision, Duration longest) {
		return Boolean.TRUE.equals(refused(decision)) && !isTurnedAway(decision)
				&& decision.limits()
					.stream()
					.filter(LimitStatus::refuses)
					.allMatch((status) -> isLonger(status, longest));
	}

	private static boolean isLonger(LimitStatus status, Duration longest) {
		return status.quota().window().compareTo(longest) > 0;
	}

	/**
	 * Whether a window of one of the versions is short enough to be judged.
	 */
	public boolean judges() {
		return this.judgedWindow != null;
	}

	/**
	 * Requests that both versions decided, by bucket. Reads the decisions last: otherwise
	 * concurrent updates could make the refusals exceed them.
	 */
	public List<BucketTally> buckets() {
		return IntStream.range(0, CallerShare.BUCKETS).mapToObj((bucket) -> {
			long onlyNew = this.buckets.get(bucket * NUMBERS + 1);
			long onlyOld = this.buckets.get(bucket * NUMBERS + 2);
			return new BucketTally(this.buckets.get(bucket * NUMBERS), onlyNew, onlyOld);
		}).toList();
	}

	public Tally ofPrevious() {
		return this.ofPrevious.tally();
	}

	/**
	 * Decisions of the new version, in shadow or not.
	 */
	public Tally ofNew() {
		return this.ofNext.tally();
	}

	public long bothAllowed() {
		return this.bothAllowed.sum();
	}

	public long bothRefused() {
		return this.bothRefused.sum();
	}

	/**
	 * Requests that only the new version refused.
	 */
	public long onlyNewRefused() {
		return this.onlyNewRefused.sum();
	}

	/**
	 * Requests that only the previous version refused.
	 */
	public long onlyOldRefused() {
		return this.onlyOldRefused.sum();
	}

	/**
	 * {@code null} for decisions of lists, the switch and failure modes: they do not
	 * depend on the version. Whether a caller lacks an identity does: a version may count
	 * by another dimension.
	 */
	private static @Nullable Boolean refused(Decision decision) {
		if (decision.degraded()) {
			return null;
		}
		return switch (decision.outcome()) {
			case ALLOWED -> Boolean.FALSE;
			case REFUSED, SHADOW_REFUSED -> Boolean.TRUE;
			case BYPASSED -> isByIdentity(decision) ? Boolean.FALSE : null;
			case DENIED -> isByIdentity(decision) ? Boolean.TRUE : null;
			case ERROR -> null;
		};
	}

	private static boolean isByIdentity(Decision decision) {
		return decision.reason() == Decision.Reason.IDENTITY;
	}

	private static final class Count {

		private final LongAdder decisions = new LongAdder();

		private final LongAdder refusals = new LongAdder();

		void add(boolean refused) {
			this.decisions.increment();
			if (refused) {
				this.refusals.increment();
			}
		}

		/**
		 * Reads the refusals first: otherwise concurrent updates could make them exceed
		 * the decisions.
		 */
		Tally tally() {
			long refusals = this.refusals.sum();
			return new Tally(Math.max(refusals, this.decisions.sum()), refusals);
		}

	}

}
