package dev.ratelimit.guard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.NodeCounters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.Refill;
import dev.ratelimit.counter.UnansweredException;

/**
 * Answers within a deadline. The counters of each slot have a call of their own, through
 * the breaker of their node; {@link Levelling} makes one grant of the answers. Counters
 * of a failing node become gaps in the grant, those of other nodes still hold.
 *
 * <p>
 * While a slot moves from one node to another, a call for several of its counters cannot
 * be answered, but one for each of them can.
 */
public final class GuardedCounters implements Counters {

	private final NodeCounters counters;

	private final Nodes nodes;

	private final Deadlines deadlines;

	private final Duration nodeTimeout;

	/** Corrections that wait for answers. */
	private final AtomicInteger settling = new AtomicInteger();

	/**
	 * @param nodeTimeout time after which a missing answer counts against the node, also
	 * if a check has a shorter deadline; zero if the deadline of each check decides
	 */
	public GuardedCounters(NodeCounters counters, Nodes nodes, Deadlines deadlines, Duration nodeTimeout) {
		this.counters = counters;
		this.nodes = nodes;
		this.deadlines = deadlines;
		this.nodeTimeout = nodeTimeout;
	}

	Deadlines deadlines() {
		return this.deadlines;
	}

	Duration nodeTimeout() {
		return this.nodeTimeout;
	}

	@Override
	public Decision.Source source() {
		return this.counters.source();
	}

	@Override
	public void refill(List<Counter> counters, Permits permits, Duration timeout, Refill refill,
			Consumer<Grant> answer) {
		acquire(counters, permits, null, timeout, refill, answer);
	}

	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		acquire(counters, permits, attempt, timeout, null, answer);
	}

	private void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			@Nullable Refill refill, Consumer<Grant> answer) {
		if (ofOneSlot(counters)) {
			ask(counters, permits, attempt, timeout, refill, answer);
			return;
		}
		Collection<List<Counter>> slots = bySlot(counters, (counter) -> counter);
		Levelling levelling = new Levelling(this, counters, permits, slots.size(), answer);
		int number = 0;
		for (List<Counter> slot : slots) {
			ask(slot, permits, attempt, timeout, refill, levelling.call(number++));
		}
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		return CompletableFuture.allOf(bySlot(grant.readings(), Reading::counter).stream()
			.map((readings) -> giveBackSlot(grant.with(readings), permits).toCompletableFuture())
			.toArray(CompletableFuture<?>[]::new));
	}

	@Override
	public CompletionStage<Settlement> settle(Correction correction) {
		CompletableFuture<Settlement> all = CompletableFuture.completedFuture(Settlement.NOTHING);
		for (Correction call : correction.calls()) {
			GuardedSettle settle = new GuardedSettle(this.counters, this.nodes, this.deadlines, this.settling, call);
			all = all.thenCombine(settle.begin(), Settlement::and);
		}
		return all;
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return CompletableFuture.allOf(bySlot(counters, (counter) -> counter).stream()
			.map((slot) -> this.counters.reset(slot).toCompletableFuture())
			.toArray(CompletableFuture<?>[]::new));
	}

	@Override
	public String toString() {
		return "guarded " + this.counters;
	}

	private void ask(List<Counter> slot, Permits permits, @Nullable Attempt attempt, Duration timeout,
			@Nullable Refill refill, Consumer<Grant> answer) {
		Node node = this.nodes.get(this.counters.node(slot.get(0)));
		UnansweredException refusal = node.enter();
		if (refusal != null) {
			answer.accept(Grant.unanswered(permits, slot, refusal));
			return;
		}
		GuardedCall call = call(node, slot, permits, attempt, timeout, refill, answer);
		this.counters.acquire(node.name(), call);
		if (call.isWaiting()) {
			call.entry(this.deadlines.add(call, call.start() + timeout.toNanos()));
		}
	}

	private GuardedCall call(Node node, List<Counter> slot, Permits permits, @Nullable Attempt attempt,
			Duration timeout, @Nullable Refill refill, Consumer<Grant> answer) {
		if (attempt != null) {
			return new GuardedAttempt(this, node, slot, permits, attempt, timeout, answer);
		}
		return (refill != null) ? new GuardedRefill(this, node, slot, permits, timeout, refill, answer)
				: new GuardedCall(this, node, slot, permits, timeout, timeout, answer);
	}

	/**
	 * Asks for each counter of a call by itself, because their slot is moving. An attempt
	 * is then decided without its record, which may be on another node than the counter.
	 */
	void takeSingly(NodeCall call, Duration timeout) {
		List<Counter> counters = call.counters();
		Levelling levelling = new Levelling(this, counters, call.permits(), counters.size(), call::answered);
		for (int i = 0; i < counters.size(); i++) {
			this.counters.acquire(List.of(counters.get(i)), call.permits(), null, timeout, levelling.call(i));
		}
	}

	private CompletionStage<Void> giveBackSlot(Grant grant, long permits) {
		Node node = this.nodes.get(this.counters.node(grant.readings().get(0).counter()));
		if (node.open()) {
			node.giveBackLost();
			return CompletableFuture.completedStage(null);
		}
		return this.counters.giveBack(grant, permits).whenComplete((done, failure) -> {
			if (failure != null) {
				node.giveBackLost();
			}
		});
	}

	private boolean ofOneSlot(List<Counter> counters) {
		if (counters.size() == 1) {
			return true;
		}
		int slot = this.counters.slot(counters.get(0));
		for (int i = 1; i < counters.size(); i++) {
			if (this.counters.slot(counters.get(i)) != slot) {
				return false;
			}
		}
		return true;
	}

	private <T> Collection<List<T>> bySlot(List<T> all, Function<T, Counter> counter) {
		Map<Integer, List<T>> slots = new LinkedHashMap<>();
		for (T one : all) {
			slots.computeIfAbsent(this.counters.slot(counter.apply(one)), (slot) -> new ArrayList<>(2)).add(one);
		}
		return slots.values();
	}

}
