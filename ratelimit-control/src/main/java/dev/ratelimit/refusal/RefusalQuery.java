package dev.ratelimit.refusal;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A search of the history. Fields that are {@code null} do not restrict it.
 *
 * @param caller pseudonyms by dimension: the refusal must have one of each list
 * @param before {@code next} of the page before
 */
public record RefusalQuery(@Nullable String policy, Map<String, List<String>> caller, @Nullable Instant from,
		@Nullable Instant to, @Nullable String before, int limit) {

	public RefusalQuery {
		caller = Map.copyOf(caller);
	}

	/**
	 * Whether a refusal matches; an entry for several if any of them can match.
	 */
	public boolean matches(Refusal refusal) {
		return (this.policy == null || this.policy.equals(refusal.verdict().policy())) && isAbout(refusal.caller())
				&& (this.from == null || !refusal.time().isBefore(this.from))
				&& (this.to == null || !refusal.time().minus(refusal.lasted()).isAfter(this.to));
	}

	private boolean isAbout(Map<String, String> caller) {
		return this.caller.entrySet()
			.stream()
			.allMatch((wanted) -> wanted.getValue().contains(caller.getOrDefault(wanted.getKey(), "")));
	}

}
