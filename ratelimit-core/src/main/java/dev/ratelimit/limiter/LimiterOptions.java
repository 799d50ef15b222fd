package dev.ratelimit.limiter;

import java.time.Duration;

import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;

/**
 * Options that hold for all policies.
 *
 * @param timeout deadline of a check whose policy has none
 * @param onUnknownPolicy decides requests whose policy does not exist: allow or deny
 * @param ipv6Prefix bits of an IPv6 address that identify a caller
 */
public record LimiterOptions(Duration timeout, FailureMode onUnknownPolicy, int ipv6Prefix) {

	public static final LimiterOptions DEFAULTS = new LimiterOptions(Duration.ofMillis(20), FailureMode.ALLOW, 64);

	public LimiterOptions {
		if (timeout.compareTo(Policy.MIN_TIMEOUT) < 0) {
			throw new IllegalArgumentException("timeout must be at least 1ms but was " + timeout);
		}
		if (onUnknownPolicy == FailureMode.LOCAL) {
			throw new IllegalArgumentException("an unknown policy has no limits to count locally, use allow or deny");
		}
		if (ipv6Prefix < 1 || ipv6Prefix > 128) {
			throw new IllegalArgumentException("ipv6-prefix must be 1 to 128 but was " + ipv6Prefix);
		}
	}

}
