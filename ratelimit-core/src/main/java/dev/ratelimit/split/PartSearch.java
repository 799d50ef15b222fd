package dev.ratelimit.split;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * Leads one request through the parts of its counters, until it finds permits, has tried
 * all parts, or another limit refuses. Every try takes from all counters or from none, so
 * a refused try leaves nothing behind. A part that does not answer is skipped; the
 * counter counts as unanswered only when no other part has permits.
 *
 * <p>
 * The denied-cache answers for parts that are known to refuse, so a search is rarely more
 * than one call.
 */
final class PartSearch {

	private final Counters counters;

	private final PartChoice choice;

	private final List<Counter> wholes;

	private final Permits permits;

	private final @Nullable Attempt attempt;

	private final Consumer<Grant> answer;

	private boolean ended;

	private final long deadline;

	private final @Nullable Split[] splits;

	private Duration left;

	private long slowest;

	private Decision.@Nullable Source source;

	PartSearch(Counters counters, Splitting splitting, PartChoice choice, List<Counter> wholes, Permits permits,
			@Nullable Attempt attempt, Duration timeout, Consumer<Grant> answer) {
		this.counters = counters;
		this.answer = answer;
		this.choice = choice;
		this.wholes = wholes;
		this.permits = permits;
		this.attempt = attempt;
		this.left = timeout;
		this.deadline = System.nanoTime() + timeout.toNanos();
		this.splits = new Split[wholes.size()];
		for (int i = 0; i < this.splits.length; i++) {
			int count = splitting.parts(wholes.get(i));
			this.splits[i] = (count > 1) ? new Split(choice, wholes.get(i), count, permits.least()) : null;
		}
	}

	/**
	 * Asks the current parts, then the next ones.
	 */
	void ask() {
		long start = System.nanoTime();
		List<Counter> asked = asked();
		if (asked.isEmpty()) {
			answered(new Grant(this.permits, this.permits.most(), List.of(), Decision.Source.NONE), start);
		}
		else {
			this.counters.acquire(asked, this.permits, this.attempt, this.left, (grant) -> answered(grant, start));
		}
	}

	private void answered(Grant grant, long start) {
		if (this.ended) {
			// Handing over the answer failed: this one comes in its place.
			this.answer.accept(grant);
		}
		else if (moveOn(grant, start)) {
			ask();
		}
		else {
			Grant result = result(grant);
			this.ended = true;
			this.answer.accept(result);
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

	/**
	 * Moves on to other parts if there are any and there is time for them.
	 * @return {@code false} if this grant is the result
	 */
	private boolean moveOn(Grant grant, long start) {
		this.source = (this.source == null || this.source == Decision.Source.DENIED_CACHE) ? grant.source()
				: this.source;
		boolean moved = false;
		if (grant.refused()) {
			for (Reading reading : grant.readings()) {
				if (reading.waitFor(this.permits.least()) != 0) {
					Split split = split(reading.counter());
					if (split == null || !split.refused(reading, grant.source() == Decision.Source.REDIS)) {
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
		grant.whenLate(this::giveBack);
	}

	private void giveBack(Grant grant) {
		if (grant.permits() > 0 && !grant.readings().isEmpty()) {
			this.counters.giveBack(grant, grant.permits());
		}
	}

	private Grant result(Grant grant) {
		boolean refused = grant.refused();
		List<Reading> readings = new ArrayList<>(grant.readings().size());
		for (Reading reading : grant.readings()) {
			readings.add(refused ? refused(reading) : granted(reading));
		}
		return new Grant(grant.wanted(), grant.permits(), readings, gaps(grant),
				(refused && this.source != null) ? this.source : grant.source(), refused ? grant.node() : null);
	}

	/**
	 * The reading of the part that was asked last, joined with those of the parts before
	 * it.
	 */
	private Reading refused(Reading reading) {
		Split split = split(reading.counter());
		if (split == null) {
			return reading;
		}
		List<Reading> readings = new ArrayList<>();
		readings.add(reading);
		split.refusals().stream().filter((refusal) -> refusal != reading).forEach(readings::add);
		return new WholeReading(split.whole(), readings, split.timeAtKey());
	}

	private Reading granted(Reading reading) {
		Split split = split(reading.counter());
		if (split == null) {
			return reading;
		}
		if (split.isElsewhere()) {
			this.choice.found(split.whole(), split.part());
		}
		return new WholeReading(split.whole(), List.of(reading));
	}

	/** Callers do not know parts: the whole counter did not answer. */
	private List<Grant.Gap> gaps(Grant grant) {
		List<Grant.Gap> gaps = new ArrayList<>(grant.gaps().size());
		for (Grant.Gap gap : grant.gaps()) {
			gaps.add(gap.with(gap.counters().stream().map(this::whole).toList()));
		}
		for (Split split : this.splits) {
			UnansweredException cause = (split != null) ? split.unanswered() : null;
			if (cause != null && gaps.stream().noneMatch((gap) -> gap.counters().contains(split.whole()))) {
				// Without the late answer, which is being given back already.
				gaps.add(new Grant.Gap(List.of(split.whole()), cause));
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
