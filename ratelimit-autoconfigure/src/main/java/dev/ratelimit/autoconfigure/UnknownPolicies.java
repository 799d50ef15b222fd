package dev.ratelimit.autoconfigure;

import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.control.ControlPlane;

/**
 * The failure for a name that is no policy's, with the nearest one that is.
 */
final class UnknownPolicy {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private UnknownPolicy() {
	}

	/**
	 * Fails, unless the policy may be in a store that has not been read yet.
	 */
	static void found(String where, String id, Policies policies, @Nullable ControlPlane control) {
		InvalidPolicyException failure = failure(where, id, policies.get().ids());
		if (control == null || control.state().lastContact() != null) {
			throw failure;
		}
		logger.warn("{} names policy '{}', which is not known yet: the store of policies has not answered. Until it "
				+ "does, requests are decided by ratelimit.on-unknown-policy", where, id);
	}

	static InvalidPolicyException failure(String where, String id, Set<String> ids) {
		String nearest = Nearest.of(id, ids);
		return new InvalidPolicyException(where + " names policy '" + id + "', which does not exist.",
				((nearest != null) ? "Did you mean '" + nearest + "'? " : "")
						+ "Use a policy under 'ratelimit.policies', or add 'ratelimit.policies." + id + "'.");
	}

}
