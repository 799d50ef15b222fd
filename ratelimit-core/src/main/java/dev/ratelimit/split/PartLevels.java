package dev.ratelimit.counter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;

/**
 * Carries what was counted from one number of parts to another, so that nobody gets
 * permits anew by it. Every part that is to be in use is brought down to the share of its
 * quotas that the counter has left as a whole; a part that has less is left alone, so an
 * error is on the safe side. To be done before the number changes.
 *
 * <p>
 * A part has the same permits taken under all its quotas, but may have to lose ten
 * thousand under one and none under the other. So it is done for one quota after the
 * other, with the others made so large that it hardly matters to them.
 */
public final class PartLevels {

	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private final Counters counters;

	public PartLevels(Counters counters) {
		this.counters = counters;
	}

	/**
	 * Makes ready for another number of parts. Fails if a part does not answer.
	 * @param whole the counter
	 * @param from how many parts it is kept in
	 * @param to how many it will be kept in
	 */
	public CompletionStage<Void> level(Counter whole, int from, int to) {
		if (from == to) {
			return CompletableFuture.completedStage(null);
		}
		return look(parts(whole, from)).thenCompose((left) -> CompletableFuture.allOf(parts(whole, to).stream()
			.map((part) -> bringDown(alone(part), whole.spec().limit(), left).toCompletableFuture())
			.toArray(CompletableFuture<?>[]::new)));
	}

	private static List<Counter> parts(Counter whole, int parts) {
		return (parts == 1) ? List.of(whole)
				: IntStream.range(0, parts).mapToObj((part) -> whole.part(part, parts)).toList();
	}

	/** A part that is told as what it is, and not as a sample of the whole. */
	private static Counter alone(Counter part) {
		return part.with(part.spec().with(part.spec().algorithm(), part.spec().limit()));
	}

	private CompletionStage<Void> bringDown(Counter part, Limit whole, List<LimitStatus> left) {
		CompletionStage<Void> done = CompletableFuture.completedStage(null);
		// The longest first: when its permits are taken the short ones recover soon.
		List<Integer> order = IntStream.range(0, left.size())
			.boxed()
			.sorted(Comparator.comparing((Integer quota) -> whole.quotas().get(quota).window()).reversed())
			.toList();
		for (int quota : order) {
			done = done.thenCompose((nothing) -> look(List.of(part))).thenCompose((own) -> {
				long burst = part.spec().limit().quotas().get(quota).burst();
				long share = Math.max(0, left.get(quota).remaining()) * burst / whole.quotas().get(quota).burst();
				return take(part, quota, own.get(quota).remaining() - share);
			});
		}
		return done;
	}

	private CompletionStage<Void> take(Counter part, int quota, long permits) {
		if (permits <= 0) {
			return CompletableFuture.completedStage(null);
		}
		Counter single = part.with(single(part.spec(), quota, permits));
		return this.counters.acquire(List.of(single), Permits.between(1, permits), PATIENCE)
			.thenAccept(PartLevels::requireAll);
	}

	/** The same state under quotas of which only one can refuse. */
	private static CounterSpec single(CounterSpec spec, int quota, long permits) {
		Limit limit = spec.limit();
		List<Quota> quotas = new ArrayList<>(limit.quotas());
		quotas.replaceAll((other) -> (other == limit.quotas().get(quota)) ? other : enlarged(other, permits));
		return spec.with(spec.algorithm(), new Limit(limit.name(), limit.by(), quotas, Enforcement.STRICT));
	}

	private static Quota enlarged(Quota quota, long permits) {
		long most = Quota.MAX_PERMITS;
		long factor = Math.max(1, Math.min((most - permits) / quota.burst(), most / quota.permits()));
		return new Quota(quota.permits() * factor, quota.window(), Math.min(most, quota.burst() * factor + permits));
	}

	private CompletionStage<List<LimitStatus>> look(List<Counter> parts) {
		return this.counters.acquire(parts, Permits.NONE, PATIENCE).thenApply((grant) -> {
			requireAll(grant);
			return grant.statuses();
		});
	}

	private static void requireAll(Grant grant) {
		if (!grant.complete()) {
			throw grant.gaps().get(0).cause();
		}
	}

}
