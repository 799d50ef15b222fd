package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * The way of one request through the parts of its counters, until it finds permits, has
 * tried all parts, or another limit refuses. Every try is all or nothing, so one that was
 * refused leaves nothing behind. A part that does not answer is passed over too; only
 * when no other has permits does the counter count as unanswered.
 *
 * <p>
 * Parts that are known to refuse are told by the denied-cache and cost nothing, so this
 * is rarely more than one call.
 */
final class PartSearch {

	private final Parts parts;

	private final Counters counters;

	private final List<Counter> wholes;

	private final Permits permits;

	private final long deadline;

	private final @Nullable Split[] splits;

	private Duration left;

	private long slowest;

	private Decision.@Nullable Source source;

	PartSearch(Parts parts, Counters counters, List<Counter> wholes, Permits permits, Duration timeout) {
		this.parts = parts;
		this.counters = counters;
		this.wholes = wholes;
		this.permits = permits;
		this.left = timeout;
		this.deadline = System.nanoTime() + timeout.toNanos();
		this.splits = new Split[wholes.size()];
		for (int i = 0; i < this.splits.length; i++) {
			int count = parts.count(wholes.get(i));
			this.splits[i] = (count > 1) ? new Split(parts, wholes.get(i), count, permits.least()) : null;
		}
	}

	/**
	 * Asks the current parts, then the next ones.
	 */
	CompletionStage<Grant> ask() {
		while (true) {
			long start = System.nanoTime();
			List<Counter> asked = asked();
			CompletableFuture<Grant> answer = asked.isEmpty()
					? CompletableFuture
						.completedFuture(new Grant(this.permits, this.permits.most(), List.of(), Decision.Source.NONE))
					: this.counters.acquire(asked, this.permits, this.left)
						.exceptionally((failure) -> Grant.unanswered(this.permits, asked, failure))
						.toCompletableFuture();
			if (!answer.isDone()) {
				return answer.thenCompose(
						(grant) -> goesOn(grant, start) ? ask() : CompletableFuture.completedStage(result(grant)));
			}
			if (!goesOn(answer.join(), start)) {
				return CompletableFuture.completedFuture(result(answer.join()));
			}
		}
	}

	private List<Counter> asked() {
		List<Counter> asked = new ArrayList<>(this.wholes.size());
		for (int i = 0; i < this.splits.length; i++) {
			Split split = this.splits[i];
			if (split == null) {
				asked.add(this.wholes.get(i));
			}
			else if (split.unanswered() == null) {
				asked.add(split.ask());
			}
		}
		return asked;
	}

	/** Whether there are other parts to ask, and time for it. */
	private boolean goesOn(Grant grant, long start) {
		this.source = (this.source == null || this.source == Decision.Source.DENIED_CACHE) ? grant.source()
				: this.source;
		boolean moved = false;
		if (grant.refused()) {
			for (Reading reading : grant.readings()) {
				if (reading.waitFor(this.permits.least()) != 0) {
					Split split = split(reading.counter());
					if (split == null || !split.refused(reading)) {
						return false;
					}
					moved = true;
				}
			}
		}
		for (Grant.Gap gap : grant.gaps()) {
			for (Counter counter : gap.counters()) {
				Split split = split(counter);
				moved |= split != null && split.failed(gap.cause());
			}
		}
		long now = System.nanoTime();
		this.slowest = Math.max(this.slowest, now - start);
		// An answer that came too late would count against a node that is only slow.
		if (!moved || this.deadline - now < 2 * this.slowest) {
			return false;
		}
		this.left = Duration.ofNanos(this.deadline - now);
		abandon(grant);
		return true;
	}

	private void abandon(Grant grant) {
		giveBack(grant);
		grant.gaps().forEach((gap) -> gap.cause().late().thenAccept(this::giveBack));
	}

	private void giveBack(Grant grant) {
		if (grant.permits() > 0 && !grant.readings().isEmpty()) {
			this.counters.giveBack(grant, grant.permits());
		}
	}

	private Grant result(Grant grant) {
		if (!grant.refused()) {
			grant.readings().forEach(this::found);
			List<Grant.Gap> gaps = gaps(grant);
			return gaps.isEmpty() ? grant
					: new Grant(grant.wanted(), grant.permits(), grant.readings(), gaps, grant.source());
		}
		return new Grant(grant.wanted(), grant.permits(), refusals(grant), gaps(grant),
				(this.source != null) ? this.source : grant.source(), grant.node());
	}

	/** What the counters said last, and before it what other parts of them said. */
	private List<Reading> refusals(Grant grant) {
		List<Reading> readings = new ArrayList<>();
		for (Reading reading : grant.readings()) {
			readings.add(reading);
			Split split = split(reading.counter());
			if (split != null) {
				split.refusals().stream().filter((refusal) -> refusal != reading).forEach(readings::add);
			}
		}
		return readings;
	}

	private void found(Reading reading) {
		Split split = split(reading.counter());
		if (split != null && split.isElsewhere()) {
			this.parts.found(split.whole(), split.part());
		}
	}

	/** Nobody outside knows parts: it is the whole counter that did not answer. */
	private List<Grant.Gap> gaps(Grant grant) {
		List<Grant.Gap> gaps = new ArrayList<>(grant.gaps().size());
		for (Grant.Gap gap : grant.gaps()) {
			gaps.add(new Grant.Gap(gap.counters().stream().map(this::whole).toList(), gap.cause()));
		}
		for (Split split : this.splits) {
			UnansweredException cause = (split != null) ? split.unanswered() : null;
			if (cause != null && gaps.stream().noneMatch((gap) -> gap.counters().contains(split.whole()))) {
				// Without the late answer, which is being given back already.
				gaps.add(new Grant.Gap(List.of(split.whole()),
						new UnansweredException(cause.reason(), String.valueOf(cause.getMessage()))));
			}
		}
		return gaps;
	}

	private Counter whole(Counter counter) {
		Split split = split(counter);
		return (split != null) ? split.whole() : counter;
	}

	/** Whose part was just asked, {@code null} for a counter in one piece. */
	private @Nullable Split split(Counter counter) {
		for (Split split : this.splits) {
			if (split != null && split.asked(counter)) {
				return split;
			}
		}
		return null;
	}

}
