package dev.ratelimit.control;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * How far a version of a policy is that is not for everybody.
 *
 * @param version the version
 * @param previous the one that holds where it does not, {@code null} if there is none
 * @param percent its share of the callers
 * @param stage which of its stages that is, from 1; 0 if it is none of them
 * @param stages how many there are
 * @param since when the stage began
 * @param nextAt when the next one is due, {@code null} if there is none
 * @param counts what both versions have decided, {@code null} if there is only one
 */
public record RolloutState(long version, @Nullable Long previous, int percent, int stage, int stages, Instant since,
		@Nullable Instant nextAt, @Nullable RolloutCounts counts) {
}
