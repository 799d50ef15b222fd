package dev.ratelimit.guard;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Makes one grant out of several calls, each of which grants or refuses independently:
 * when one refuses or grants fewer permits, the surplus of the others is given back.
 *
 * <p>
 * The give-back is sent before the grant is reported, on the connection that any later
 * check of those counters uses, so a caller that saw a refusal never finds the permits
 * still taken. A failed call does not influence the grant and is a gap in it.
 */
final class Levelling {

	private final Counters counters;

	private final List<Counter> order;

	private final Permits permits;

	private final Consumer<Grant> answer;

	private final @Nullable Grant[] grants;

	private final AtomicInteger missing;

	/**
	 * @param counters where to give back
	 * @param order the counters of the request
	 * @param permits permits that it wants of each
	 * @param calls number of calls
	 * @param answer gets the grant when all calls have ended
	 */
	Levelling(Counters counters, List<Counter> order, Permits permits, int calls, Consumer<Grant> answer) {
		this.counters = counters;
		this.order = order;
		this.permits = permits;
		this.answer = answer;
		this.grants = new Grant[calls];
		this.missing = new AtomicInteger(calls);
	}

	/** The answer to a call, by the number of the call. */
	Consumer<Grant> call(int number) {
		return (grant) -> {
			if (this.grants[number] != null) {
				// Handing over the first answer failed: the caller has none yet.
				this.answer.accept(grant);
				return;
			}
			this.grants[number] = grant;
			if (this.missing.decrementAndGet() == 0) {
				this.answer.accept(levelled());
			}
		};
	}

	private Grant levelled() {
		try {
			return level();
		}
		catch (Throwable ex) {
			return Grant.unanswered(this.permits, this.order, ex);
		}
	}

	private Grant level() {
		long common = Long.MAX_VALUE;
		for (Grant grant : this.grants) {
			common = Math.min(common, Objects.requireNonNull(grant).permits());
		}
		Map<Counter, Reading> readings = new HashMap<>();
		String node = null;
		List<Grant.Gap> gaps = new ArrayList<>(0);
		for (Grant one : this.grants) {
			Grant grant = Objects.requireNonNull(one);
			long excess = grant.permits() - common;
			if (excess > 0 && !grant.readings().isEmpty()) {
				this.counters.giveBack(grant, excess);
			}
			for (Reading reading : grant.readings()) {
				readings.put(reading.counter(), (excess > 0) ? reading.without(excess) : reading);
			}
			gaps.addAll(grant.gaps());
			node = (node != null) ? node : grant.node();
		}
		return new Grant(this.permits, common, this.order.stream().map(readings::get).filter(Objects::nonNull).toList(),
				gaps, this.counters.source(), node);
	}

}
