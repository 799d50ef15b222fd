package dev.ratelimit.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settling;

/**
 * Decisions that let one call pass, whichever edge asked for them. Response headers come
 * from the most constrained of them. A later refusal gives back the permits that were
 * taken before any work was done, as by the filters of a route. If a method is refused
 * that the handler called, all permits stay taken, or a caller could have the work that
 * was done for free.
 *
 * <p>
 * <b>A policy is charged once for a call</b> that URL entries, filters of its route and
 * its handler name, with the largest of their costs: the first of them takes its cost,
 * and a later one the difference. Other methods, and a handler that runs again, are
 * charged at every call.
 */
public final class CallDecisions {

	/** The attribute of an exchange or a servlet request that holds its decisions. */
	public static final String ATTRIBUTE = CallDecisions.class.getName();

	private final AtomicReference<@Nullable Allowed> last = new AtomicReference<>();

	/**
	 * Adds a decision that lets the call pass.
	 * @param edge the edge that asked for it
	 * @param returnable whether a later refusal gives its permits back
	 * @return whether it is new: an edge for which an earlier one has paid gets the
	 * earlier decision
	 */
	public boolean add(Decision decision, Edge edge, boolean returnable) {
		if (edge == Edge.REQUEST && contains(decision)) {
			return false;
		}
		this.last.updateAndGet((before) -> new Allowed(decision, edge, returnable, before));
		return true;
	}

	/**
	 * Whether a decision is known: it may also be the answer to an edge for which an
	 * earlier one has paid.
	 */
	public boolean contains(Decision decision) {
		for (Allowed next = this.last.get(); next != null; next = next.before) {
			if (next.decision == decision) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The permits for which a policy has let the call as a whole pass, and the last
	 * decision about it; {@code null} if there is none, or if the handler has used it.
	 */
	@Nullable Paid paid(String policy) {
		long cost = 0;
		Allowed latest = null;
		for (Allowed next = this.last.get(); next != null; next = next.before) {
			if (!next.isOf(policy)) {
				continue;
			}
			if (next.edge == Edge.HANDLER) {
				return null;
			}
			cost += next.decision.cost();
			latest = (latest != null) ? latest : next;
		}
		return (latest != null) ? new Paid(latest.decision, cost, !latest.returnable) : null;
	}

	/**
	 * Settles decisions by what the head of a response says that is about to be sent.
	 * @param cost the true cost, {@code null} if the head does not name it
	 * @return the headers of the response
	 */
	public Map<String, String> commit(Function<Settling, @Nullable Long> cost, HttpAnswers answers) {
		settle(cost);
		return headers(answers);
	}

	/**
	 * Headers of the response; none after {@link #giveBack} or {@link #forget}, as a
	 * refusal has its own.
	 */
	public Map<String, String> headers(HttpAnswers answers) {
		List<Decision> decisions = new ArrayList<>(2);
		for (Allowed next = this.last.get(); next != null; next = next.before) {
			decisions.add(0, next.decision);
		}
		return answers.answer(decisions, null).headers();
	}

	/**
	 * Decisions whose true cost the response may name. What a later edge took more for
	 * the same policy belongs to the first decision.
	 */
	public List<Decision> settling() {
		List<Decision> settling = new ArrayList<>(1);
		for (Allowed next = this.last.get(); next != null; next = next.before) {
			if (next.decision.receipt().settling() != null && !next.isDifference()) {
				settling.add(next.decision);
			}
		}
		return settling;
	}

	void settle(Function<Settling, @Nullable Long> cost) {
		for (Decision decision : settling()) {
			Settling settling = decision.receipt().settling();
			Long actual = (settling != null) ? cost.apply(settling) : null;
			if (actual != null) {
				settle(decision, actual);
			}
		}
	}

	/**
	 * Settles a decision, and all that later edges took more for its policy.
	 */
	public void settle(Decision decision, long cost) {
		decision.settle(cost);
		differences(decision).forEach((difference) -> difference.settle(0));
	}

	/**
	 * The permits that were taken before the true cost is known.
	 */
	public long estimate(Decision decision) {
		return taken(decision) + differences(decision).stream().mapToLong(CallDecisions::taken).sum();
	}

	/** A decision of a failure mode grants nothing, but may have taken its cost. */
	private static long taken(Decision decision) {
		return (decision.granted() > 0) ? decision.granted() : decision.cost();
	}

	private List<Decision> differences(Decision decision) {
		List<Decision> differences = new ArrayList<>(0);
		for (Allowed next = this.last.get(); next != null && next.decision != decision; next = next.before) {
			if (next.isOf(decision.policy()) && next.isDifference() && !differences.contains(next.decision)) {
				differences.add(next.decision);
			}
		}
		return differences;
	}

	/**
	 * Gives returnable permits back, once, and forgets the decisions.
	 */
	public void giveBack() {
		for (Allowed next = this.last.getAndSet(null); next != null; next = next.before) {
			if (next.returnable) {
				next.decision.giveBack();
			}
		}
	}

	/**
	 * Forgets the decisions, whose permits stay taken: a method that the handler called
	 * was refused, and the refusal has headers of its own.
	 */
	public void forget() {
		this.last.set(null);
	}

	/**
	 * Asks for a decision.
	 */
	public enum Edge {

		/** An entry of {@code ratelimit.urls} or a filter of a route. */
		REQUEST,

		/** The handler of the call. */
		HANDLER,

		/**
		 * Any other method, and whatever counts by a key or by dimensions of its own.
		 */
		ALONE

	}

	/**
	 * What a policy has let pass.
	 *
	 * @param latest the last decision
	 * @param cost permits of all decisions together
	 * @param beforeAuthentication whether the last one was made before authentication: of
	 * those about the call as a whole, only these are not returnable
	 */
	record Paid(Decision latest, long cost, boolean beforeAuthentication) {
	}

	private record Allowed(Decision decision, Edge edge, boolean returnable, @Nullable Allowed before) {

		/** Whether it counts for the call as a whole, under this policy. */
		boolean isOf(String policy) {
			return this.edge != Edge.ALONE && this.decision.policy().equals(policy);
		}

		/** Whether an earlier edge has paid a part of the cost. */
		boolean isDifference() {
			Allowed earlier = this.before;
			while (earlier != null && !earlier.isOf(this.decision.policy())) {
				earlier = earlier.before;
			}
			return this.edge != Edge.ALONE && earlier != null && earlier.edge != Edge.HANDLER;
		}

	}

}
