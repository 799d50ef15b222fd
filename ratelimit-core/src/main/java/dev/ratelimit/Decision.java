package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * The answer to a request.
 *
 * @param policy id of the policy that decided
 * @param version version of that policy
 * @param allowed whether the request may go on
 * @param outcome the kind of decision
 * @param reason the cause, if something other than the limits decided
 * @param source the origin of the answer
 * @param shadow whether the policy only reports: callers must not see any effect of it
 * @param mode the failure mode that answered in place of counters; {@code null} if all
 * counters answered
 * @param cost requested permits
 * @param granted taken permits; less than the cost only if the request accepts less
 * @param limits every quota of every limit that was checked
 * @param receipt gives permits back
 * @param node the Redis node that refused, or that did not answer so that the failure
 * mode refused; {@code null} otherwise
 * @param replay whether an earlier attempt of the same request was admitted, so that this
 * one was admitted without being counted or, if it is refused, was refused by a limit
 * that did not know the earlier one
 */
public record Decision(String policy, long version, boolean allowed, Outcome outcome, Reason reason, Source source,
		boolean shadow, @Nullable FailureMode mode, long cost, long granted, List<LimitStatus> limits, Receipt receipt,
		@Nullable String node, boolean replay) {

	private static final Comparator<LimitStatus> MOST_CONSTRAINED = Comparator.comparingLong(LimitStatus::remaining)
		.thenComparing(Comparator.comparingLong(LimitStatus::resetAfterMicros).reversed());

	private static final Comparator<LimitStatus> LONGEST_WAIT = Comparator
		.comparingLong((status) -> status.neverFits() ? Long.MAX_VALUE : status.retryAfterMicros());

	public Decision(String policy, long version, boolean allowed, Outcome outcome, Reason reason, Source source,
			boolean shadow, @Nullable FailureMode mode, long cost, long granted, List<LimitStatus> limits,
			Receipt receipt) {
		this(policy, version, allowed, outcome, reason, source, shadow, mode, cost, granted, limits, receipt, null);
	}

	public Decision(String policy, long version, boolean allowed, Outcome outcome, Reason reason, Source source,
			boolean shadow, @Nullable FailureMode mode, long cost, long granted, List<LimitStatus> limits,
			Receipt receipt, @Nullable String node) {
		this(policy, version, allowed, outcome, reason, source, shadow, mode, cost, granted, limits, receipt, node,
				false);
	}

	/**
	 * A decision without counters.
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
	 * Whether a failure mode answered in place of at least one counter.
	 */
	public boolean degraded() {
		return this.mode != null;
	}

	/**
	 * The same decision for a policy in shadow: reported, but always allowed.
	 */
	public Decision inShadow() {
		Outcome shadow = (this.outcome == Outcome.REFUSED) ? Outcome.SHADOW_REFUSED : this.outcome;
		return new Decision(this.policy, this.version, true, shadow, this.reason, this.source, true, this.mode,
				this.cost, this.granted, this.limits, this.receipt, this.node, this.replay);
	}

	/**
	 * The same decision with the node that caused it.
	 */
	public Decision at(@Nullable String node) {
		return (node == null) ? this
				: new Decision(this.policy, this.version, this.allowed, this.outcome, this.reason, this.source,
						this.shadow, this.mode, this.cost, this.granted, this.limits, this.receipt, node, this.replay);
	}

	/**
	 * The same decision with another reason and with the quotas that a failure mode
	 * checked.
	 */
	public Decision with(Reason reason, List<LimitStatus> further) {
		List<LimitStatus> limits = new ArrayList<>(this.limits);
		limits.addAll(further);
		return new Decision(this.policy, this.version, this.allowed, this.outcome, reason, this.source, this.shadow,
				this.mode, this.cost, this.granted, limits, this.receipt, this.node, this.replay);
	}

	/**
	 * The same decision with other statuses of its quotas.
	 */
	public Decision with(List<LimitStatus> limits) {
		return new Decision(this.policy, this.version, this.allowed, this.outcome, this.reason, this.source,
				this.shadow, this.mode, this.cost, this.granted, limits, this.receipt, this.node, this.replay);
	}

	/**
	 * The quota that response headers report: after a refusal the one with the longest
	 * wait, otherwise the one with the fewest permits left, then the longest reset;
	 * {@code null} if no counter was asked.
	 */
	public @Nullable LimitStatus decisive() {
		LimitStatus decisive = refusedBy();
		if (decisive == null) {
			for (int i = 0, size = this.limits.size(); i < size; i++) {
				LimitStatus status = this.limits.get(i);
				decisive = (decisive == null || MOST_CONSTRAINED.compare(status, decisive) < 0) ? status : decisive;
			}
		}
		return decisive;
	}

	/**
	 * The quota that refused, the one with the longest wait if there are several.
	 */
	public @Nullable LimitStatus refusedBy() {
		LimitStatus longest = null;
		// By index: runs for every request and must not allocate.
		for (int i = 0, size = this.limits.size(); i < size; i++) {
			LimitStatus status = this.limits.get(i);
			if (status.refuses() && (longest == null || LONGEST_WAIT.compare(status, longest) > 0)) {
				longest = status;
			}
		}
		return longest;
	}

	/**
	 * Wait until the same request fits; zero if it was admitted or never fits.
	 */
	public Duration retryAfter() {
		LimitStatus refusing = refusedBy();
		return (refusing != null) ? refusing.retryAfter() : Duration.ZERO;
	}

	/**
	 * Whether the cost is larger than a burst: the request never fits, however long the
	 * caller waits.
	 */
	public boolean neverFits() {
		return this.limits.stream().anyMatch(LimitStatus::neverFits);
	}

	/**
	 * Permits left under the decisive quota, -1 if no counter was asked.
	 */
	public long remaining() {
		LimitStatus decisive = decisive();
		return (decisive != null) ? decisive.remaining() : -1;
	}

	/**
	 * Settles the true cost of the request, after its policy took an estimate. What was
	 * taken too much is given back; what is missing is charged without a check, up to a
	 * debt of one burst. Only the first settle of a decision has an effect. Without a
	 * {@code cost} in the policy nothing happens.
	 * @param actual the true cost in permits, at least 0
	 * @return the outcome; never fails
	 */
	public CompletionStage<Settlement> settle(long actual) {
		return this.receipt.settle(actual);
	}

	/**
	 * Settles a request that did not take place: it costs nothing.
	 * @return the outcome; never fails
	 */
	public CompletionStage<Settlement> cancel() {
		return settle(0);
	}

	/**
	 * The same decision with another receipt.
	 */
	public Decision withReceipt(Receipt receipt) {
		return new Decision(this.policy, this.version, this.allowed, this.outcome, this.reason, this.source,
				this.shadow, this.mode, this.cost, this.granted, this.limits, receipt, this.node, this.replay);
	}

	/**
	 * Gives back all permits that the decision took.
	 */
	public CompletionStage<Void> giveBack() {
		return this.receipt.giveBack(this.granted);
	}

	/**
	 * Kind of decision; a tag of the metrics.
	 */
	public enum Outcome implements EnumText {

		/** The limits admitted the request. */
		ALLOWED,

		/** A limit refused the request. */
		REFUSED,

		/** A limit would have refused the request, but the policy is in shadow. */
		SHADOW_REFUSED,

		/**
		 * Refused before any limit was checked: on the deny-list, banned, or without
		 * identity.
		 */
		DENIED,

		/**
		 * Allowed before any limit was checked: on the allow-list, no limit applies, or
		 * the switch is on.
		 */
		BYPASSED,

		/**
		 * The counters did not answer and the failure mode allowed or denied without
		 * counting.
		 */
		ERROR

	}

	/**
	 * Cause of a decision.
	 */
	public enum Reason implements EnumText {

		/** The limits decided. */
		LIMITS,

		/** An entry of the allow-list or the deny-list matched. */
		LIST,

		/** The request lacks a dimension that the policy counts by. */
		IDENTITY,

		/** The caller has to wait for the end of a cool-down. */
		COOL_DOWN,

		/** The caller is banned. */
		BAN,

		/** No policy has the id that the request names. */
		UNKNOWN_POLICY,

		/** The emergency switch is on. */
		SWITCH,

		/** The counters did not answer in time. */
		TIMEOUT,

		/** The counters did not answer at once, and the calling thread must not wait. */
		NOT_AWAITED,

		/** The breaker of the counters' node is open after too many failures. */
		BREAKER_OPEN,

		/**
		 * Too many checks already wait for the counters' node, or the deadline passed
		 * before the check could be sent.
		 */
		SATURATED,

		/** The counters' node is unreachable. */
		UNAVAILABLE,

		/** The counters' node is out of memory. */
		OUT_OF_MEMORY,

		/** The counters' node is a replica. */
		READ_ONLY,

		/** The counters' node has just started and still loads its data. */
		LOADING,

		/** The cluster is down, or has no node for the counters. */
		CLUSTER_DOWN,

		/** The counters are being moved to another node. */
		RESHARDING,

		/**
		 * The counters' node refused the login, or its ACL forbids a command or a key.
		 */
		FORBIDDEN,

		/** A counter's key holds data that is not a counter. */
		CORRUPT,

		/** The API key of the caller could not be verified. */
		API_KEY,

		/** The limiter itself failed. */
		INTERNAL

	}

	/**
	 * Origin of a decision.
	 */
	public enum Source implements EnumText {

		/** Counters in Redis. */
		REDIS,

		/** Permits taken ahead from Redis. */
		LEASE,

		/** A recent refusal by Redis, remembered in this process. */
		DENIED_CACHE,

		/** Counters in this process, because the limiter is configured without Redis. */
		MEMORY,

		/** Counters in this process, because Redis did not answer. */
		LOCAL,

		/** No counter was asked. */
		NONE

	}

}
