package dev.ratelimit.limiter;

import java.time.Duration;

import dev.ratelimit.FailureMode;

/**
 * What holds for all policies.
 *
 * @param timeout deadline of a check whose policy has none of its own
 * @param onUnknownPolicy what happens to a request whose policy does not exist: allow or
 * deny
 * @param ipv6Prefix how many bits of an IPv6 address make a caller
 * @param instances how many instances share the limits when each has to count by itself
 */
public record LimiterOptions(Duration timeout, FailureMode onUnknownPolicy, int ipv6Prefix, int instances) {

	public static final LimiterOptions DEFAULTS = new LimiterOptions(Duration.ofMillis(20), FailureMode.ALLOW, 64, 1);

	public LimiterOptions {
		if (timeout.isNegative() || timeout.isZero()) {
			throw new IllegalArgumentException("timeout must be positive but was " + timeout);
		}
		if (onUnknownPolicy == FailureMode.LOCAL) {
			throw new IllegalArgumentException("an unknown policy has no limits to count locally, use allow or deny");
		}
		if (ipv6Prefix < 1 || ipv6Prefix > 128) {
			throw new IllegalArgumentException("ipv6-prefix must be 1 to 128 but was " + ipv6Prefix);
		}
		if (instances < 1) {
			throw new IllegalArgumentException("instances must be at least 1 but was " + instances);
		}
	}

}
