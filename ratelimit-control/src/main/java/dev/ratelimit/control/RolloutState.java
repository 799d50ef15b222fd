package dev.ratelimit.control;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.EnumText;

/**
 * State of a version that is not for everybody.
 *
 * @param previous version for the other callers, {@code null} if there is none
 * @param percent share of callers
 * @param stage number of the stage, from 1; 0 if the share is not one of the stages
 * @param since start of the stage
 * @param nextAt start of the next stage, {@code null} if there is none
 * @param judgement whether the stage can be judged, {@code null} if it has no stages or
 * no version to compare with
 * @param counts decisions of both versions, {@code null} if there is only one
 */
public record RolloutState(long version, @Nullable Long previous, int percent, int stage, int stages, Instant since,
		@Nullable Instant nextAt, @Nullable Judgement judgement, @Nullable RolloutCounts counts) {

	/**
	 * Whether a stage can be judged.
	 */
	public enum Judgement {

		/** It is judged, and goes on at the end of its hold. */
		JUDGED,

		/**
		 * Requests of fewer than 16 of 64 groups of callers were compared so far. It goes
		 * on at the end of its hold if there are enough by then.
		 */
		COLLECTING,

		/**
		 * The hold is over, and requests of fewer than 16 of 64 groups of callers were
		 * compared.
		 */
		TOO_FEW_CALLERS,

		/** All windows are longer than the hold. */
		WINDOWS_TOO_LONG;

		public String text() {
			return EnumText.of(this);
		}

	}

}
