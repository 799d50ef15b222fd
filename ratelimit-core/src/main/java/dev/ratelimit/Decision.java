package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * The answer to a request.
 *
 * @param policy id of the policy that decided
 * @param version its version
 * @param allowed whether the request may go on
 * @param outcome what was decided
 * @param reason why, when the limits were not what decided
 * @param source who answered
 * @param shadow whether the policy only reports: callers are not to see anything of it
 * @param mode the failure mode that answered for counters that did not, or were not
 * asked; {@code null} as a rule
 * @param cost permits that were asked for
 * @param granted permits that were taken; less than the cost only when the request said
 * so
 * @param limits every quota of every limit that was checked
 * @param receipt what can be given back
 * @param node the Redis node that refused, or whose silence left the decision to a
 * failure mode that refused; {@code null} otherwise
 */
public record Decision(String policy, long version, boolean allowed, Outcome outcome, Reason reason, Source source,
		boolean shadow, @Nullable FailureMode mode, long cost, long granted, List<LimitStatus> limits, Receipt receipt,
		@Nullable String node) {

	private static final Comparator<LimitStatus> MOST_CONSTRAINED = Comparator.comparingLong(LimitStatus::remaining)
		.thenComparing(Comparator.comparingLong(LimitStatus::resetAfterMicros).reversed());

	private static final Comparator<LimitStatus> LONGEST_WAIT = Comparator
		.comparingLong((status) -> status.neverFits() ? Long.MAX_VALUE : status.retryAfterMicros());

	public Decision(String policy, long version, boolean allowed, Outcome outcome, Reason reason, Source source,
			boolean shadow, @Nullable FailureMode mode, long cost, long granted, List<LimitStatus> limits,
			Receipt receipt) {
		this(policy, version, allowed, outcome, reason, source, shadow, mode, cost, granted, limits, receipt, null);
	}

	/**
	 * A decision that no counter had a part in.
	 */
	public static Decision without(Request request, long version, boolean allowed, Outcome outcome, Reason reason) {
		FailureMode mode = (outcome != Outcome.ERROR) ? null : allowed ? FailureMode.ALLOW : FailureMode.DENY;
		return new Decision(request.policy(), version, allowed, outcome, reason, Source.NONE, false, mode,
				request.cost(), 0, List.of(), Receipt.NOTHING);
	}

	/**
	 * The decision of a failure mode that needs no counter: allow or deny.
	 */
	public static Decision by(FailureMode mode, Request request, long version, Reason reason) {
		boolean allowed = mode == FailureMode.ALLOW;
		Outcome outcome = (allowed && reason == Reason.SWITCH) ? Outcome.BYPASSED : Outcome.ERROR;
		return new Decision(request.policy(), version, allowed, outcome, reason, Source.NONE, false, mode,
				request.cost(), 0, List.of(), Receipt.NOTHING);
	}

	/**
	 * Whether the answer was given without some of the counters that should have given
	 * it.
	 */
	public boolean degraded() {
		return this.mode != null;
	}

	/**
	 * The decision as a policy in shadow gives it: reported, never obeyed.
	 */
	public Decision inShadow() {
		Outcome shadow = (this.outcome == Outcome.REFUSED) ? Outcome.SHADOW_REFUSED : this.outcome;
		return new Decision(this.policy, this.version, true, shadow, this.reason, this.source, true, this.mode,
				this.cost, this.granted, this.limits, this.receipt, this.node);
	}

	/**
	 * The decision with the node that it is due to.
	 */
	public Decision at(@Nullable String node) {
		return (node == null) ? this : new Decision(this.policy, this.version, this.allowed, this.outcome, this.reason,
				this.source, this.shadow, this.mode, this.cost, this.granted, this.limits, this.receipt, node);
	}

	/**
	 * The decision with what a failure mode had to add.
	 */
	public Decision with(Reason reason, List<LimitStatus> further) {
		List<LimitStatus> limits = new ArrayList<>(this.limits);
		limits.addAll(further);
		return new Decision(this.policy, this.version, this.allowed, this.outcome, reason, this.source, this.shadow,
				this.mode, this.cost, this.granted, limits, this.receipt, this.node);
	}

	/**
	 * The quota that a caller should know about: on refusal the one with the longest
	 * wait, otherwise the one with the fewest permits left, then the longest reset;
	 * {@code null} when no counter was asked.
	 */
	public @Nullable LimitStatus decisive() {
		LimitStatus refusing = refusedBy();
		return (refusing != null) ? refusing : this.limits.stream().min(MOST_CONSTRAINED).orElse(null);
	}

	/**
	 * The quota that refused, the one with the longest wait if there are several.
	 */
	public @Nullable LimitStatus refusedBy() {
		LimitStatus longest = null;
		// By index: every refusal is metered, without garbage.
		for (int i = 0, size = this.limits.size(); i < size; i++) {
			LimitStatus status = this.limits.get(i);
			if (status.refuses() && (longest == null || LONGEST_WAIT.compare(status, longest) > 0)) {
				longest = status;
			}
		}
		return longest;
	}

	/**
	 * How long to wait before the same request would be admitted, zero when it was or
	 * never will be.
	 */
	public Duration retryAfter() {
		LimitStatus refusing = refusedBy();
		return (refusing != null) ? refusing.retryAfter() : Duration.ZERO;
	}

	/**
	 * Whether the cost is larger than a burst, so that waiting does not help.
	 */
	public boolean neverFits() {
		return this.limits.stream().anyMatch(LimitStatus::neverFits);
	}

	/**
	 * Permits left under the decisive quota, -1 when no counter was asked.
	 */
	public long remaining() {
		LimitStatus decisive = decisive();
		return (decisive != null) ? decisive.remaining() : -1;
	}

	/**
	 * Gives back all that was taken.
	 */
	public CompletionStage<Void> giveBack() {
		return this.receipt.giveBack(this.granted);
	}

	/**
	 * What was decided, as it is metered.
	 */
	public enum Outcome {

		/** The limits let it pass. */
		ALLOWED,

		/** A limit refused it. */
		REFUSED,

		/** A limit would have refused it, but the policy is in shadow. */
		SHADOW_REFUSED,

		/** Turned away before any limit was asked: deny-listed or without identity. */
		DENIED,

		/** Let pass before any limit was asked: allow-listed, no limit, or the switch. */
		BYPASSED,

		/**
		 * The counters could not answer, and the failure mode has no answer of its own.
		 */
		ERROR;

		public String text() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

	/**
	 * Why something other than the limits decided.
	 */
	public enum Reason {

		/** The limits decided. */
		LIMITS,

		/** An entry of the allow-list or the deny-list matched. */
		LIST,

		/** The request lacks a dimension that the policy counts by. */
		IDENTITY,

		/** There is no such policy. */
		UNKNOWN_POLICY,

		/** The switch is on. */
		SWITCH,

		/** The counters did not answer in time. */
		TIMEOUT,

		/** The answer was not there at once, and who asked cannot wait. */
		NOT_AWAITED,

		/** The counters' node failed too often and is not asked for a while. */
		BREAKER_OPEN,

		/** Too many checks wait for the counters' node. */
		SATURATED,

		/** The counters could not be reached. */
		UNAVAILABLE,

		/** The counters' node has no memory for them. */
		OUT_OF_MEMORY,

		/** The counters' node is a replica. */
		READ_ONLY,

		/** The counters' node has just started and reads its data. */
		LOADING,

		/** The cluster is down, or has no node for the counters. */
		CLUSTER_DOWN,

		/** The counters are being moved to another node. */
		RESHARDING,

		/** The counters' node does not let the limiter do its work. */
		FORBIDDEN,

		/** A counter held something that is no counter. */
		CORRUPT,

		/** The API key of the caller could not be verified. */
		API_KEY,

		/** The limiter itself failed. */
		INTERNAL;

		public String text() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

	/**
	 * Who answered.
	 */
	public enum Source {

		/** Counters in Redis. */
		REDIS,

		/** Permits that were taken from Redis ahead. */
		LEASE,

		/** A refusal that Redis gave a moment ago. */
		DENIED_CACHE,

		/** Counters in this process, because that is where they are kept. */
		MEMORY,

		/** Counters in this process, because Redis could not answer. */
		LOCAL,

		/** Nobody had to. */
		NONE;

		public String text() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

}
