package dev.ratelimit.policy;

import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * Two versions of a policy that are in force at once, and what this instance saw them
 * decide: each by itself, and both of them about the same request where the new one
 * counts beside the other.
 */
public final class Comparison {

	private final long previous;

	private final long next;

	private final Count ofPrevious = new Count();

	private final Count ofNext = new Count();

	private final LongAdder bothAllowed = new LongAdder();

	private final LongAdder bothRefused = new LongAdder();

	private final LongAdder onlyNewRefused = new LongAdder();

	private final LongAdder onlyOldRefused = new LongAdder();

	Comparison(long previous, long next) {
		this.previous = previous;
		this.next = next;
	}

	boolean isOf(long previous, long next) {
		return this.previous == previous && this.next == next;
	}

	/**
	 * The version before.
	 */
	public long previousVersion() {
		return this.previous;
	}

	/**
	 * The new version.
	 */
	public long newVersion() {
		return this.next;
	}

	/**
	 * Counts a decision, if the limits of one of the versions made it.
	 */
	public void decided(Decision decision) {
		Boolean refused = refused(decision);
		if (refused != null && decision.version() == this.next) {
			this.ofNext.add(refused);
		}
		else if (refused != null && decision.version() == this.previous) {
			this.ofPrevious.add(refused);
		}
	}

	/**
	 * Counts what both versions said about one request, if the limits of both said
	 * something.
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
	 * What was decided by the version before.
	 */
	public Tally ofPrevious() {
		return this.ofPrevious.tally();
	}

	/**
	 * What was decided by the new version, in shadow or not.
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
	 * Requests that the change would turn away.
	 */
	public long onlyNewRefused() {
		return this.onlyNewRefused.sum();
	}

	/**
	 * Requests that the change would let pass.
	 */
	public long onlyOldRefused() {
		return this.onlyOldRefused.sum();
	}

	/** What lists, the switch and failure modes decide says nothing about a version. */
	private static @Nullable Boolean refused(Decision decision) {
		if (decision.degraded()) {
			return null;
		}
		return switch (decision.outcome()) {
			case ALLOWED -> Boolean.FALSE;
			case REFUSED, SHADOW_REFUSED -> Boolean.TRUE;
			case DENIED, BYPASSED, ERROR -> null;
		};
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

		/** Refusals first: read the other way round they could be more. */
		Tally tally() {
			long refusals = this.refusals.sum();
			return new Tally(Math.max(refusals, this.decisions.sum()), refusals);
		}

	}

}
