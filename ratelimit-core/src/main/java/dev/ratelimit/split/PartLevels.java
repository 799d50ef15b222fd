package dev.ratelimit.split;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Carries the counts of a counter over to another number of parts, so that no permit is
 * granted twice. Each part that will be in use is brought down to its share of what the
 * whole counter has left. A part that has less stays as it is, so an error is on the safe
 * side. This must be done before the number changes.
 *
 * <p>
 * The windows of all callers that share the counter are handled one after the other: a
 * part may have to lose ten thousand permits under one and none under another.
 */
final class PartLevels {

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private final Counters counters;

	PartLevels(Counters counters) {
		this.counters = counters;
	}

	/**
	 * Prepares another number of parts. Fails if a part does not answer.
	 * @param whole the counter
	 * @param from its current number of parts
	 * @param to its next number of parts
	 */
	CompletionStage<Void> level(Counter whole, int from, int to) {
		if (from == to) {
			return CompletableFuture.completedStage(null);
		}
		// The longest window first: after it has lost permits, short ones recover soon.
		List<Counter> byWindow = whole.spec()
			.byWindow()
			.stream()
			// Callers that have fewer permits than parts stay on the first part.
			.filter((spec) -> spec.limit().fits(Math.max(from, to)))
			.map(whole::with)
			.toList();
		return left(byWindow, from).thenCompose((left) -> all(IntStream.range(0, to)
			.mapToObj((part) -> bringDown(byWindow, left, (window) -> parts(window, to).get(part)))));
	}

	private static List<Counter> parts(Counter whole, int parts) {
		return (parts == 1) ? List.of(whole)
				: IntStream.range(0, parts).mapToObj((part) -> whole.part(part, parts)).toList();
	}

	/** The permits that each window has left in all parts, read before any change. */
	private CompletionStage<List<Long>> left(List<Counter> byWindow, int parts) {
		List<CompletableFuture<Long>> left = byWindow.stream()
			.map((window) -> remaining(window, parts(window, parts)).toCompletableFuture())
			.toList();
		return all(left.stream()).thenApply((nothing) -> left.stream().map(CompletableFuture::join).toList());
	}

	private CompletionStage<Void> bringDown(List<Counter> byWindow, List<Long> left, UnaryOperator<Counter> partOf) {
		CompletionStage<Void> done = CompletableFuture.completedStage(null);
		for (int i = 0; i < byWindow.size(); i++) {
			Counter part = partOf.apply(byWindow.get(i));
			long share = Math.max(0, left.get(i)) * burst(part) / burst(byWindow.get(i));
			done = done.thenCompose((nothing) -> remaining(part, List.of(part)))
				.thenCompose((own) -> take(part, own - share));
		}
		return done;
	}

	private static long burst(Counter counter) {
		return counter.spec().limit().quotas().get(0).burst();
	}

	private CompletionStage<Void> take(Counter part, long permits) {
		return (permits > 0) ? this.counters.acquire(List.of(part), Permits.between(1, permits), TIMEOUT)
			.thenAccept(PartLevels::requireAll) : CompletableFuture.completedStage(null);
	}

	private CompletionStage<Long> remaining(Counter counter, List<Counter> parts) {
		return this.counters.acquire(parts, Permits.NONE, TIMEOUT).thenApply((grant) -> {
			requireAll(grant);
			Reading reading = (parts.size() > 1) ? new WholeReading(counter, grant.readings())
					: grant.readings().get(0);
			return grant.with(List.of(reading)).statuses().get(0).remaining();
		});
	}

	private static void requireAll(Grant grant) {
		if (!grant.complete()) {
			throw grant.gaps().get(0).cause();
		}
	}

	private static CompletionStage<Void> all(Stream<? extends CompletionStage<?>> stages) {
		return CompletableFuture
			.allOf(stages.map(CompletionStage::toCompletableFuture).toArray(CompletableFuture<?>[]::new));
	}

}
