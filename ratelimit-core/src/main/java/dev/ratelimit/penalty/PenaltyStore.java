package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Penalty;

/**
 * Adds up the offences of callers over the fleet, and keeps the fleet's list of bans.
 * Never throws: a failure completes the stage exceptionally, or leaves out a verdict.
 */
public interface PenaltyStore {

	/** Most bans in the list: every instance keeps all of them. */
	int MOST_BANS = 10_000;

	/**
	 * Adds what an instance has seen.
	 * @return a verdict for each report, {@code null} where there is no answer
	 */
	CompletionStage<List<@Nullable Verdict>> report(List<Report> reports);

	/**
	 * Writes a ban to the list and tells the fleet, unless it was lifted since.
	 * @param known revision of the list that the instance knew before it asked for the
	 * verdict
	 */
	CompletionStage<Listed> list(Ban ban, long known);

	/**
	 * Ends cool-down and ban of a caller, forgets its offences, and tells the fleet.
	 */
	CompletionStage<Void> lift(CallerKey caller);

	/**
	 * The revision of the list, which changes with each write.
	 */
	CompletionStage<Long> revision();

	/**
	 * Reads the whole list.
	 */
	CompletionStage<Bans> bans();

	/**
	 * Hears of cool-downs and of changes of the list.
	 * @param listener called on a thread that it may block
	 */
	void listen(Listener listener);

	/**
	 * What an instance has seen of a caller.
	 *
	 * @param offences further offences
	 * @param age time since the last of them, in microseconds
	 * @param count refusals by Redis that were no offence for the instance
	 * @param time the first of these, by Redis's clock in microseconds
	 * @param end end of the wait that was announced to the caller
	 */
	record Report(CallerKey caller, Penalty terms, long offences, long age, long count, long time, long end) {
	}

	/**
	 * What the fleet knows of a caller. Times are microseconds.
	 *
	 * @param offences offences that are not forgotten
	 * @param age time since the last of them
	 * @param coolDown rest of the cool-down, 0 for none
	 * @param ban rest of the ban, 0 for none
	 * @param began what the report has begun, {@code null} for nothing
	 */
	record Verdict(long offences, long age, long coolDown, long ban, PenaltyListener.@Nullable Kind began) {
	}

	/**
	 * What became of a ban that was to be listed.
	 *
	 * @param revision of the list
	 */
	record Listed(Outcome outcome, long revision) {

		/** Whether the ban is in the list. */
		public enum Outcome {

			/** It is. */
			LISTED,

			/** The list is full. */
			FULL,

			/** The caller's penalties were lifted after the known revision. */
			LIFTED

		}

	}

	/**
	 * The fleet's list.
	 *
	 * @param revision its revision
	 * @param bans at most {@value #MOST_BANS}
	 * @param unlisted for how long there may be bans that it had no room for
	 */
	record Bans(long revision, List<Ban> bans, Duration unlisted) {

		public Bans {
			bans = List.copyOf(bans);
		}

	}

	/**
	 * Hears of cool-downs and of changes of the list.
	 */
	interface Listener {

		void coolDown(CallerKey caller, Duration left);

		/**
		 * The list has changed.
		 * @param revision of the list after that
		 * @param left zero if the ban was lifted
		 */
		void ban(long revision, CallerKey caller, Duration left);

		/**
		 * The list had no room for a ban.
		 * @param revision of the list after that
		 * @param left for how long there may be bans that are not in the list
		 */
		void unlisted(long revision, Duration left);

		/** Messages may have been missed. */
		void missed();

	}

}
