package dev.ratelimit.refusal;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Which refusals are wanted.
 *
 * @param policy id of the policy, {@code null} for any
 * @param caller what has to be known about the caller: one of these, as
 * {@link Refusal#caller()} has it
 * @param from the earliest time, {@code null} for no bound
 * @param to the latest time, {@code null} for no bound
 * @param before where the page before has ended, {@code null} for the first
 * @param limit how many at most
 */
public record RefusalQuery(@Nullable String policy, Map<String, List<String>> caller, @Nullable Instant from,
		@Nullable Instant to, @Nullable String before, int limit) {

	public RefusalQuery {
		caller = Map.copyOf(caller);
	}

	/**
	 * Whether a refusal is wanted; one that stands for several if any of them can be.
	 */
	public boolean matches(Refusal refusal) {
		return (this.policy == null || this.policy.equals(refusal.verdict().policy())) && isAbout(refusal.caller())
				&& (this.from == null || !refusal.time().isBefore(this.from))
				&& (this.to == null || !refusal.time().minus(refusal.lasted()).isAfter(this.to));
	}

	private boolean isAbout(Map<String, String> caller) {
		for (Map.Entry<String, List<String>> wanted : this.caller.entrySet()) {
			String name = caller.get(wanted.getKey());
			if (name == null || !wanted.getValue().contains(name)) {
				return false;
			}
		}
		return true;
	}

}
