package dev.ratelimit.counter;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;

/**
 * What was taken from a set of counters.
 *
 * @param wanted what was asked for
 * @param permits taken from each of the counters that answered; 0 if it was refused or
 * only looked at
 * @param readings the counters afterwards
 * @param gaps the counters that did not answer, none as a rule
 * @param source who answered
 * @param node who refused, by the name of the node; {@code null} if nobody did or there
 * are no nodes
 */
public record Grant(Permits wanted, long permits, List<Reading> readings, List<Gap> gaps, Decision.Source source,
		@Nullable String node) {

	public Grant(Permits wanted, long permits, List<Reading> readings, List<Gap> gaps, Decision.Source source) {
		this(wanted, permits, readings, gaps, source, null);
	}

	public Grant(Permits wanted, long permits, List<Reading> readings, Decision.Source source) {
		this(wanted, permits, readings, List.of(), source);
	}

	/**
	 * What there is when nobody answered: nobody refused either.
	 */
	public static Grant unanswered(Permits wanted, List<Counter> counters, Throwable failure) {
		return new Grant(wanted, wanted.most(), List.of(), List.of(new Gap(counters, UnansweredException.of(failure))),
				Decision.Source.NONE);
	}

	/**
	 * The same with counters that were not asked.
	 */
	public Grant with(Gap gap) {
		return new Grant(this.wanted, this.permits, this.readings,
				Stream.concat(this.gaps.stream(), Stream.of(gap)).toList(), this.source, this.node);
	}

	/**
	 * The same, refused by a node.
	 */
	public Grant at(@Nullable String node) {
		return new Grant(this.wanted, this.permits, this.readings, this.gaps, this.source, node);
	}

	/**
	 * Whether every counter answered.
	 */
	public boolean complete() {
		return this.gaps.isEmpty();
	}

	public boolean refused() {
		return this.permits < this.wanted.least();
	}

	/**
	 * The whole counter that refused, {@code null} if none did. Of several that have too
	 * little it is the first.
	 */
	public @Nullable Counter refusing() {
		for (int i = 0; refused() && i < this.readings.size(); i++) {
			Reading reading = this.readings.get(i);
			if (this.readings.size() == 1 || reading.available(reading.time()) < this.wanted.least()) {
				return reading.counter().whole();
			}
		}
		return null;
	}

	/**
	 * What the readings mean, for each quota of each counter.
	 */
	public List<LimitStatus> statuses() {
		return new Statuses(this.readings, this.wanted.least(), this.permits);
	}

	/**
	 * Counters that did not answer.
	 *
	 * @param counters which ones
	 * @param cause why not
	 */
	public record Gap(List<Counter> counters, UnansweredException cause) {
	}

}
