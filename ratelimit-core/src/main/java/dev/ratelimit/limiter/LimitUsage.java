package dev.ratelimit.limiter;

import java.util.List;

import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;

/**
 * The usage of one limit by a caller.
 *
 * @param limit the limit as it applies to this caller
 * @param enforcement where its permits are taken
 * @param key key of the counter; it contains no value of the caller
 * @param byIp unknown dimensions that the IP replaces
 * @param statuses one for each quota, none if the counter did not answer
 * @param held permits that this instance has taken ahead and not spent: the statuses
 * count them as used
 */
public record LimitUsage(Limit limit, Enforcement enforcement, String key, List<Dimension> byIp,
		List<LimitStatus> statuses, long held) {

	public boolean answered() {
		return !this.statuses.isEmpty();
	}

}
