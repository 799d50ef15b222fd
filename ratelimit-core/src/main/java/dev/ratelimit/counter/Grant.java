package dev.ratelimit.counter;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * Permits that were taken from a set of counters.
 *
 * @param wanted permits that were asked for
 * @param permits permits taken from each of the counters that answered; 0 if refused or
 * only read
 * @param readings the counters afterwards
 * @param gaps the counters that did not answer, usually none
 * @param source where the answer comes from
 * @param node name of the node that refused; {@code null} if none did or there are no
 * nodes
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
	 * The grant when no counter answered: none refused either.
	 */
	public static Grant unanswered(Permits wanted, List<Counter> counters, Throwable failure) {
		return unanswered(wanted, new Gap(counters, UnansweredException.of(failure)));
	}

	/**
	 * The grant when no counter answered: none refused either.
	 */
	public static Grant unanswered(Permits wanted, Gap gap) {
		return new Grant(wanted, wanted.most(), List.of(), List.of(gap), Decision.Source.NONE);
	}

	/**
	 * The same grant with counters that were not asked.
	 */
	public Grant with(Gap gap) {
		return new Grant(this.wanted, this.permits, this.readings,
				Stream.concat(this.gaps.stream(), Stream.of(gap)).toList(), this.source, this.node);
	}

	/**
	 * The same grant with other readings of its counters.
	 */
	public Grant with(List<Reading> readings) {
		return new Grant(this.wanted, this.permits, readings, this.gaps, this.source, this.node);
	}

	/**
	 * The same grant, refused by a node.
	 */
	public Grant at(@Nullable String node) {
		return new Grant(this.wanted, this.permits, this.readings, this.gaps, this.source, node);
	}

	/**
	 * The same grant after some of its permits were given back.
	 */
	public Grant afterReturn(long returned) {
		if (returned == 0) {
			return this;
		}
		return new Grant(this.wanted, this.permits - returned,
				this.readings.stream().map((reading) -> reading.afterReturn(this.permits, returned)).toList(),
				this.gaps, this.source, this.node);
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
	 * The status of each quota of each counter.
	 */
	public Statuses statuses() {
		return new Statuses(this);
	}

	/**
	 * The counters that did not answer.
	 */
	public List<Counter> unanswered() {
		return this.gaps.stream().flatMap((gap) -> gap.counters().stream()).toList();
	}

	/**
	 * Calls an action with each answer that comes late. A late answer may have gaps of
	 * its own, whose answers come later still.
	 */
	public void whenLate(Consumer<Grant> action) {
		for (Gap gap : this.gaps) {
			CompletionStage<Grant> late = gap.late();
			if (late != null) {
				late.thenAccept((grant) -> {
					if (!grant.readings().isEmpty()) {
						action.accept(grant);
					}
					grant.whenLate(action);
				});
			}
		}
	}

	/**
	 * Counters that did not answer in time.
	 *
	 * @param cause the reason
	 * @param late completes with the permits that were taken after all; {@code null} if
	 * no answer can come
	 */
	public record Gap(List<Counter> counters, UnansweredException cause, @Nullable CompletionStage<Grant> late) {

		public Gap(List<Counter> counters, UnansweredException cause) {
			this(counters, cause, null);
		}

		/**
		 * The same gap under other counters, such as the wholes of parts.
		 */
		public Gap with(List<Counter> counters) {
			return new Gap(counters, this.cause, this.late);
		}

		/**
		 * The same gap, of whose late answer only a part is for the caller.
		 */
		public Gap mapLate(UnaryOperator<Grant> part) {
			return (this.late == null) ? this : new Gap(this.counters, this.cause, this.late.thenApply(part));
		}

	}

}
