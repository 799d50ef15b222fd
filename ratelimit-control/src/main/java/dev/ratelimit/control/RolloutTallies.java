package dev.ratelimit.control;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.FleetSums;

/**
 * Adds what this instance saw versions decide to what the others saw. Only policies with
 * two versions in force have anything to add. Each version has sums of its own, so that
 * those of a stage begin with it.
 */
final class RolloutTallies {

	private static final long TIMEOUT_MILLIS = 1_000;

	private final @Nullable FleetSums sums;

	private Map<String, Sent> sent = new HashMap<>();

	private volatile Map<String, RolloutCounts> counts = Map.of();

	/**
	 * Creates tallies.
	 * @param sums {@code null} if nothing adds up what instances count
	 */
	RolloutTallies(@Nullable FleetSums sums) {
		this.sums = sums;
	}

	/**
	 * Exchanges what is new. Where the others' numbers cannot be had, this instance's own
	 * have to do. Waits for the answer, so it is for a thread that may.
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
				// What fails is not sent again: a little too few is better than some
				// twice.
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
	 * What the versions of a policy that are in force now have decided, {@code null} if
	 * there is only one.
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
		if (this.sums == null) {
			return CompletableFuture.completedFuture(own);
		}
		List<Long> fresh = new ArrayList<>();
		for (int i = 0; i < numbers.size(); i++) {
			fresh.add(numbers.get(i) - ((before != null) ? before.get(i) : 0));
		}
		CompletionStage<List<Long>> sums = this.sums.add(name, fresh);
		return sums.thenApply((all) -> RolloutCounts.of(all, true))
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
