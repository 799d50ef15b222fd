package dev.ratelimit.autoconfigure;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.Nearest;
import dev.ratelimit.control.ControlPlane;

/**
 * Fails the start for the name of a policy that does not exist, with the most similar one
 * that does. While the store is not read, the name is checked later.
 */
public final class UnknownPolicies {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private final Policies policies;

	private final Supplier<@Nullable ControlPlane> control;

	/** As many as routes and annotations name. */
	private final Queue<Name> unread = new ConcurrentLinkedQueue<>();

	UnknownPolicies(Policies policies, Supplier<@Nullable ControlPlane> control) {
		this.policies = policies;
		this.control = control;
	}

	/**
	 * Fails, unless the policy may be in a store that has not been read yet.
	 * @param where the place that names the policy
	 */
	public void found(String where, String id) {
		ControlPlane control = this.control.get();
		if (control == null || control.state().read()) {
			throw unknown(where, id);
		}
		this.unread.add(new Name(where, id));
		logger.warn("{} names policy '{}', which is not known yet: the policy store has not been read. Until it is, "
				+ "ratelimit.on-unknown-policy decides these requests", where, id);
	}

	/** Fails for the first name that the store does not have either. */
	void checkAgain() {
		for (Name name = this.unread.poll(); name != null; name = this.unread.poll()) {
			if (this.policies.get().find(name.id()) == null) {
				throw unknown(name.where(), name.id());
			}
		}
	}

	private InvalidPolicyException unknown(String where, String id) {
		String nearest = Nearest.of(id, this.policies.get().ids());
		return new InvalidPolicyException(where + " names policy '" + id + "', which does not exist.",
				((nearest != null) ? "Did you mean '" + nearest + "'? " : "")
						+ "Use a policy under 'ratelimit.policies', or add 'ratelimit.policies." + id + "'.");
	}

	private record Name(String where, String id) {
	}

}
