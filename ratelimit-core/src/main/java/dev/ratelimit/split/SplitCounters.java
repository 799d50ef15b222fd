package dev.ratelimit.split;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Keeps a hot counter in several parts, so that its load is not on one node. Callers see
 * whole counters only. Each part counts under its share of every quota, and the shares
 * add up to exactly the limit: whichever part a request takes from, all of them together
 * never admit more.
 *
 * <p>
 * A request takes all its permits from one part; when that part refuses, it tries the
 * next ({@link PartSearch}). So the use follows the permits, and no share is ever moved.
 */
public final class SplitCounters implements Counters {

	private final Counters counters;

	private final Splitting splitting;

	private final PartChoice choice;

	SplitCounters(Counters counters, Splitting splitting, int instance) {
		this.counters = counters;
		this.splitting = splitting;
		this.choice = new PartChoice(instance);
	}

	/**
	 * Counters that are kept in parts where the splitting says so. Counters in memory
	 * stay as they are: they have no node to relieve.
	 * @param counters where the parts are kept
	 * @param splitting how many parts a counter has
	 */
	public static Counters of(Counters counters, Splitting splitting) {
		return (counters.source() == Decision.Source.MEMORY) ? counters
				: new SplitCounters(counters, splitting, ThreadLocalRandom.current().nextInt());
	}

	@Override
	public Decision.Source source() {
		return this.counters.source();
	}

	/** Attempts of one request begin with the same part, where their record is. */
	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		if (isAnySplit(counters)) {
			PartChoice choice = (attempt != null) ? PartChoice.of(attempt.id().hashCode()) : this.choice;
			new PartSearch(this.counters, this.splitting, choice, counters, permits, attempt, timeout, answer).ask();
		}
		else {
			this.counters.acquire(counters, permits, attempt, timeout, answer);
		}
	}

	@Override
	public CompletionStage<Grant> read(List<Counter> counters) {
		return isAnySplit(counters) ? this.counters.read(parts(counters)).thenApply((grant) -> whole(counters, grant))
				: this.counters.read(counters);
	}

	/** Returns permits to the part that granted them. */
	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		return this.counters.giveBack(grant.with(granting(grant.readings())), permits);
	}

	/** Corrects the part that granted the permits. */
	@Override
	public CompletionStage<Settlement> settle(Correction correction) {
		return this.counters.settle(correction.with(granting(correction.grant().readings())));
	}

	private static List<Reading> granting(List<Reading> readings) {
		for (Reading reading : readings) {
			if (reading instanceof WholeReading) {
				return readings.stream().map(Reading::granting).toList();
			}
		}
		return readings;
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return this.counters.reset(parts(counters));
	}

	@Override
	public long held(Counter counter) {
		return parts(List.of(counter)).stream().mapToLong(this.counters::held).sum();
	}

	/** All permits of a request come from one part, so the largest part decides. */
	@Override
	public long largestCost(Counter counter) {
		return parts(List.of(counter)).stream().mapToLong(this.counters::largestCost).max().orElseThrow();
	}

	@Override
	public String toString() {
		return "split " + this.counters;
	}

	private boolean isAnySplit(List<Counter> counters) {
		for (int i = 0; i < counters.size(); i++) {
			if (this.splitting.parts(counters.get(i)) > 1) {
				return true;
			}
		}
		return false;
	}

	/** All parts of the counters, and the counters that have none. */
	private List<Counter> parts(List<Counter> counters) {
		List<Counter> all = new ArrayList<>(counters.size());
		for (Counter counter : counters) {
			int parts = this.splitting.parts(counter);
			for (int part = 0; part < parts; part++) {
				all.add((parts > 1) ? counter.part(part, parts) : counter);
			}
		}
		return all;
	}

	private static Grant whole(List<Counter> counters, Grant grant) {
		List<Reading> readings = new ArrayList<>(counters.size());
		for (Counter counter : counters) {
			List<Reading> own = grant.readings()
				.stream()
				.filter((reading) -> reading.counter().whole().equals(counter))
				.toList();
			if (!own.isEmpty()) {
				readings.add(WholeReading.of(counter, own));
			}
		}
		List<Grant.Gap> gaps = grant.gaps()
			.stream()
			.map((gap) -> gap.with(gap.counters().stream().map(Counter::whole).distinct().toList()))
			.toList();
		return new Grant(grant.wanted(), grant.permits(), readings, gaps, grant.source(), grant.node());
	}

}
