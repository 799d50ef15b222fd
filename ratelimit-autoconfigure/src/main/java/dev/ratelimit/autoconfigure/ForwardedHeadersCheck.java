package dev.ratelimit.autoconfigure;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.Environment;

/**
 * Refuses to start where the server itself takes the remote address from a header: every
 * caller could then choose the IP that it is counted by. Boot does so when told to and,
 * on Kubernetes and other platforms, without being told.
 */
class ForwardedHeadersCheck implements InitializingBean {

	private static final String STRATEGY = "server.forward-headers-strategy";

	private final boolean trusted;

	private final Environment environment;

	ForwardedHeadersCheck(boolean trusted, Environment environment) {
		this.trusted = trusted;
		this.environment = environment;
	}

	@Override
	public void afterPropertiesSet() {
		String strategy = this.environment.getProperty(STRATEGY);
		CloudPlatform platform = CloudPlatform.getActive(this.environment);
		if (this.trusted) {
			return;
		}
		if (strategy != null && !strategy.equalsIgnoreCase("none")) {
			fail("'" + STRATEGY + "' is '" + strategy + "'");
		}
		if (strategy == null && platform != null && platform.isUsingForwardHeaders()) {
			fail("the application runs on " + platform + ", where '" + STRATEGY + "' defaults to using them");
		}
	}

	private static void fail(String why) {
		throw new InvalidPolicyException(
				"The server takes the remote address from forwarded headers (" + why
						+ "), so a caller could choose the IP that it is counted by.",
				"Set '" + STRATEGY + "' to 'none' and 'ratelimit.identity.trusted-hops' to the number of your proxies, "
						+ "or, if nothing but your proxies can reach this server, set 'ratelimit.identity.trust-forwarded' "
						+ "to 'true'.");
	}

}
