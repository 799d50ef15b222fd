package dev.ratelimit.grpc;

import dev.ratelimit.EnumText;

/**
 * What operators should know about Envoy's messages; a tag of a meter.
 */
enum EnvoyEvent implements EnumText {

	/** A caller that is not a trusted peer was turned away. */
	UNTRUSTED_PEER,

	/** A message of a domain that is not configured. */
	UNKNOWN_DOMAIN,

	/** A descriptor whose entries name no policy, in a domain that has none itself. */
	NO_POLICY,

	/** A limit was skipped because an entry is blank and no entry has the IP. */
	MISSING_DIMENSION,

	/** A descriptor brought its own limit, which was ignored. */
	LIMIT_OVERRIDE,

	/**
	 * A descriptor with 0 hits was refused because no permit is left. The limiter itself
	 * counts such a check as allowed.
	 */
	NO_PERMIT_LEFT;

	/**
	 * Counts events.
	 */
	@FunctionalInterface
	interface Meter {

		/** Of an application without meters. */
		Meter NONE = (event) -> {
		};

		void count(EnvoyEvent event);

	}

}
