package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;

/**
 * A decision as it was seen on the thread that made it. Has the caller's values in it and
 * so is never written anywhere; holds nothing of the call itself, which may be over when
 * its turn comes.
 *
 * @param refused whether it was refused, be it only in shadow
 * @param line whether it becomes a line
 * @param entry whether it becomes an entry
 */
record Noticed(Instant time, Map<Dimension, String> dimensions, Refusal.Verdict verdict, Circumstances circumstances,
		@Nullable String traceId, boolean refused, boolean line, boolean entry) {

	Refusal refusal(CallerNames names, String instance) {
		return new Refusal(this.time, instance, names.of(this.dimensions), this.verdict, this.circumstances,
				this.traceId, 0, Duration.ZERO);
	}

	/** Without the values: they may be personal data. */
	@Override
	public String toString() {
		return "decision on policy '" + this.verdict.policy() + "'";
	}

	/**
	 * What stands for many like this one.
	 */
	Refusal repeated(CallerNames names, String instance, Instant time, long count, Duration lasted) {
		return new Refusal(time, instance, names.of(this.dimensions), this.verdict, this.circumstances, null, count,
				lasted);
	}

}
