package dev.ratelimit.limiter;

import java.util.List;

import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;

/**
 * What a caller has used of one limit.
 *
 * @param limit the limit as it applies to this caller
 * @param enforcement where its permits are taken
 * @param key where it is counted; nothing of the caller can be read in it
 * @param byIp dimensions that are not known and for which the IP stands
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
