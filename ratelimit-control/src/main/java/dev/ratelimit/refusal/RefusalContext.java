package dev.ratelimit.refusal;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * State of the policy and of Redis when a request was decided.
 *
 * @param breakersOpen nodes whose breaker was not closed
 * @param newestVersion newest version of the policy, which need not be the one that
 * decided
 * @param rolloutPercent share of the callers that the newest version is for
 * @param changed what about the policy was changed within the last seconds, such as
 * {@code override}; {@code null} if nothing was
 * @param changedAgo how long ago
 */
public record RefusalContext(List<String> breakersOpen, long newestVersion, int rolloutPercent,
		@Nullable String changed, Duration changedAgo) {

	public RefusalContext {
		breakersOpen = List.copyOf(breakersOpen);
	}

	/**
	 * Whether a change of the policy was under way. A request that the deny-list refused
	 * has no version.
	 */
	boolean isChangingFor(Refusal.Verdict verdict) {
		boolean older = verdict.outcome() != Decision.Outcome.DENIED && this.newestVersion != verdict.version();
		return this.changed != null || this.rolloutPercent < 100 || older;
	}

}
