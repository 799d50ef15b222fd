package dev.ratelimit.control;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.PolicyStore;

/**
 * Adds the decisions of this instance to those of the fleet, for policies with two
 * versions in force. Each version has its own sums, so a new stage begins at 0.
 */
final class RolloutTallies {

	private static final long TIMEOUT_MILLIS = 1_000;

	private final PolicyStore store;

	private Map<String, Sent> sent = new HashMap<>();

	private volatile Map<String, RolloutCounts> counts = Map.of();

	RolloutTallies(PolicyStore store) {
		this.store = store;
	}

	/**
	 * Sends what is new and waits for the sums. If the store does not answer, the numbers
	 * of this instance alone are used.
	 */
	void exchange(PolicySet policies) {
		Map<String, Sent> sent = new HashMap<>();
		Map<String, CompletableFuture<RolloutCounts>> asked = new HashMap<>();
		for (String id : policies.ids()) {
			Comparison comparison = policies.comparison(id);
			if (comparison != null) {
				String name = name(id, comparison);
				List<Long> numbers = RolloutCounts.numbers(comparison);
				Sent before = this.sent.get(name);
				// Never sent twice: a few decisions too many would count as evidence.
				sent.put(name, new Sent(comparison, numbers));
				asked.put(name, ask(name, numbers,
						(before != null && before.comparison() == comparison) ? before.numbers() : null));
			}
		}
		this.sent = sent;
		Map<String, RolloutCounts> counts = new HashMap<>();
		asked.forEach((name, answer) -> counts.put(name, answer.join()));
		this.counts = Map.copyOf(counts);
	}

	/**
	 * Decisions of the two versions in force, {@code null} if there is only one.
	 */
	@Nullable RolloutCounts find(PolicySet policies, String id) {
		Comparison comparison = policies.comparison(id);
		if (comparison == null) {
			return null;
		}
		RolloutCounts known = this.counts.get(name(id, comparison));
		return (known != null) ? known : RolloutCounts.of(RolloutCounts.numbers(comparison), false);
	}

	private CompletableFuture<RolloutCounts> ask(String name, List<Long> numbers, @Nullable List<Long> before) {
		RolloutCounts own = RolloutCounts.of(numbers, false);
		List<Long> fresh = new ArrayList<>();
		for (int i = 0; i < numbers.size(); i++) {
			fresh.add(numbers.get(i) - ((before != null) ? before.get(i) : 0));
		}
		return this.store.add(name, fresh)
			.thenApply((all) -> RolloutCounts.of(all, true))
			.toCompletableFuture()
			.completeOnTimeout(own, TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
			.exceptionally((failure) -> own);
	}

	private static String name(String id, Comparison comparison) {
		return id + ':' + comparison.newVersion();
	}

	private record Sent(Comparison comparison, List<Long> numbers) {
	}

}
