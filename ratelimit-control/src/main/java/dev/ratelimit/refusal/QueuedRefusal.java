package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.caller.CallerNames;

/**
 * A decision that waits to be written. It has the caller's values in it, so it is never
 * written as it is, and nothing of the call itself, which may be over by then.
 *
 * @param refused whether it was refused, if only in shadow
 * @param line whether it becomes a line
 * @param entry whether it becomes an entry
 */
record QueuedRefusal(Instant time, Map<Dimension, String> dimensions, Refusal.Verdict verdict, RefusalContext context,
		@Nullable String traceId, boolean refused, boolean line, boolean entry) {

	/**
	 * The refusal with pseudonyms.
	 * @param repeats the refusals that it stands for, {@code null} for itself
	 * @param now end of the time of the repeats
	 */
	Refusal refusal(CallerNames names, String instance, KeyCaps.@Nullable Repeats repeats, Instant now) {
		return (repeats == null)
				? new Refusal(this.time, instance, names.of(this.dimensions), this.verdict, this.context, this.traceId,
						0, Duration.ZERO)
				: new Refusal(now, instance, names.of(this.dimensions), this.verdict, this.context, null,
						repeats.count(), repeats.lasted());
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "decision on policy '" + this.verdict.policy() + "'";
	}

}
