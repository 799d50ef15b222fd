package dev.ratelimit.guard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.Shards;
import dev.ratelimit.counter.UnansweredException;

/**
 * Counters whose answer comes in time or not at all. The counters of each slot are asked
 * for by a call of their own, through the breaker of the node that keeps them and within
 * the deadline; {@link Levelling} makes one grant of the answers. Counters of a node that
 * is sick become gaps in the grant, those of the others hold.
 *
 * <p>
 * While a slot moves from one node to another, a call for several of its counters cannot
 * be answered, but one for each of them can.
 */
public final class GuardedCounters implements Counters {

	private final Shards shards;

	private final Nodes nodes;

	private final Deadlines deadlines;

	private final Duration nodeTimeout;

	/**
	 * Creates counters whose nodes are judged by the deadline of each check.
	 */
	public GuardedCounters(Shards shards, Nodes nodes, Deadlines deadlines) {
		this(shards, nodes, deadlines, Duration.ZERO);
	}

	/**
	 * Creates counters.
	 * @param nodeTimeout time that a node has before a missing answer counts against it,
	 * also where a check has a shorter deadline
	 */
	public GuardedCounters(Shards shards, Nodes nodes, Deadlines deadlines, Duration nodeTimeout) {
		this.shards = shards;
		this.nodes = nodes;
		this.deadlines = deadlines;
		this.nodeTimeout = nodeTimeout;
	}

	@Override
	public Decision.Source source() {
		return this.shards.source();
	}

	@Override
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		if (ofOneSlot(counters)) {
			return guarded(counters, permits, timeout);
		}
		return new Levelling(this, counters, permits).level(slots(counters), (slot) -> guarded(slot, permits, timeout));
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		Map<Integer, List<Reading>> slots = new LinkedHashMap<>();
		for (Reading reading : grant.readings()) {
			slots.computeIfAbsent(this.shards.slot(reading.counter()), (slot) -> new ArrayList<>(2)).add(reading);
		}
		return CompletableFuture.allOf(slots.values()
			.stream()
			.map((readings) -> returned(grant, readings, permits).toCompletableFuture())
			.toArray(CompletableFuture<?>[]::new));
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return CompletableFuture.allOf(slots(counters).stream()
			.map((slot) -> this.shards.reset(slot).toCompletableFuture())
			.toArray(CompletableFuture<?>[]::new));
	}

	@Override
	public String toString() {
		return "guarded " + this.shards;
	}

	private CompletableFuture<Grant> guarded(List<Counter> slot, Permits permits, Duration timeout) {
		Node node = this.nodes.get(this.shards.node(slot.get(0)));
		UnansweredException refusal = node.enter();
		if (refusal != null) {
			return CompletableFuture.failedFuture(refusal);
		}
		return new GuardedCall(node, timeout, this.nodeTimeout, this.deadlines).await(take(slot, permits, timeout));
	}

	private CompletionStage<Grant> take(List<Counter> slot, Permits permits, Duration timeout) {
		try {
			CompletionStage<Grant> taken = this.shards.acquire(slot, permits, timeout);
			return (slot
				.size() == 1)
						? taken
						: taken
							.exceptionallyCompose(
									(failure) -> isMoving(failure)
											? new Levelling(this, slot, permits).level(singly(slot),
													(counter) -> this.shards.acquire(counter, permits, timeout)
														.toCompletableFuture())
											: CompletableFuture.failedStage(failure));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private CompletionStage<Void> returned(Grant grant, List<Reading> readings, long permits) {
		Node node = this.nodes.get(this.shards.node(readings.get(0).counter()));
		if (node.open()) {
			node.giveBackLost();
			return CompletableFuture.completedStage(null);
		}
		return this.shards.giveBack(part(grant, readings), permits).whenComplete((done, failure) -> {
			if (failure != null) {
				node.giveBackLost();
			}
		});
	}

	private static Grant part(Grant grant, List<Reading> readings) {
		return new Grant(grant.wanted(), grant.permits(), readings, grant.source());
	}

	private static boolean isMoving(Throwable failure) {
		return UnansweredException.of(failure).reason() == Decision.Reason.RESHARDING;
	}

	private boolean ofOneSlot(List<Counter> counters) {
		int slot = this.shards.slot(counters.get(0));
		for (int i = 1; i < counters.size(); i++) {
			if (this.shards.slot(counters.get(i)) != slot) {
				return false;
			}
		}
		return true;
	}

	private List<List<Counter>> slots(List<Counter> counters) {
		Map<Integer, List<Counter>> slots = new LinkedHashMap<>();
		for (Counter counter : counters) {
			slots.computeIfAbsent(this.shards.slot(counter), (slot) -> new ArrayList<>(2)).add(counter);
		}
		return List.copyOf(slots.values());
	}

	private static List<List<Counter>> singly(List<Counter> counters) {
		return counters.stream().map(List::of).toList();
	}

}
