package dev.ratelimit.guard;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Makes one grant out of several calls, each of which takes or refuses by itself: when
 * one refuses, or grants less, the others are given back what they took too much.
 *
 * <p>
 * The give-back is on its way before the grant is reported, on the connection that any
 * later check of those counters uses, so nobody who saw a refusal can find the permits
 * still gone. A call that failed has no say in the grant and is a gap in it.
 */
final class Levelling {

	private final Counters counters;

	private final List<Counter> order;

	private final Permits permits;

	/**
	 * Prepares for one request.
	 * @param counters where to give back
	 * @param order the counters of the request
	 * @param permits what it wants of each
	 */
	Levelling(Counters counters, List<Counter> order, Permits permits) {
		this.counters = counters;
		this.order = order;
		this.permits = permits;
	}

	CompletableFuture<Grant> level(List<List<Counter>> parts, Function<List<Counter>, CompletableFuture<Grant>> take) {
		List<CompletableFuture<Grant>> calls = new ArrayList<>(parts.size());
		for (List<Counter> part : parts) {
			calls.add(take.apply(part).exceptionally((failure) -> Grant.unanswered(this.permits, part, failure)));
		}
		return CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new))
			.thenApply((done) -> level(calls.stream().map(CompletableFuture::join).toList()));
	}

	private Grant level(List<Grant> grants) {
		long common = grants.stream().mapToLong(Grant::permits).min().orElseThrow();
		Map<String, Reading> readings = new HashMap<>();
		String node = null;
		List<Grant.Gap> gaps = new ArrayList<>(0);
		for (Grant grant : grants) {
			long excess = grant.permits() - common;
			if (excess > 0 && !grant.readings().isEmpty()) {
				this.counters.giveBack(grant, excess);
			}
			for (Reading reading : grant.readings()) {
				readings.put(reading.counter().key(), (excess > 0) ? reading.without(excess) : reading);
			}
			gaps.addAll(grant.gaps());
			node = (node != null) ? node : grant.node();
		}
		return new Grant(this.permits, common,
				this.order.stream().map((counter) -> readings.get(counter.key())).filter(Objects::nonNull).toList(),
				gaps, this.counters.source(), node);
	}

}
