package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Policy;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.Nearest;
import dev.ratelimit.control.ControlPlane;

/**
 * Fails the start for the name of a policy that does not exist, with the most similar one
 * that does, and for a policy that does not fit what names it. While the store is not
 * read, this is checked again later.
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
		found(new Name(where, id, (policy) -> {
		}));
	}

	/**
	 * Checks the versions of a policy that are in force, now and when the store is read.
	 * @param where the place that names the policy
	 * @param fits fails for a policy that cannot decide for this place
	 */
	void requireFitting(String where, String id, Consumer<Policy> fits) {
		Name name = new Name(where, id, fits);
		// Before the versions: what is put in force in between is checked again.
		boolean unread = isUnread();
		List<Policy> versions = this.policies.get().versions(id);
		if (versions.isEmpty()) {
			found(name);
			return;
		}
		versions.forEach(fits);
		if (unread) {
			this.unread.add(name);
		}
	}

	private void found(Name name) {
		if (!isUnread()) {
			throw unknown(name.where(), name.id());
		}
		this.unread.add(name);
		logger.warn("{} names policy '{}', which is not known yet: the policy store has not been read. Until it is, "
				+ "ratelimit.on-unknown-policy decides these requests", name.where(), name.id());
	}

	private boolean isUnread() {
		ControlPlane control = this.control.get();
		return control != null && !control.state().read();
	}

	/**
	 * Fails for the first name whose policy does not fit by now or, if the store is read,
	 * that the store does not have either.
	 */
	void checkAgain() {
		boolean read = !isUnread();
		for (Name name = this.unread.poll(); name != null; name = this.unread.poll()) {
			List<Policy> versions = this.policies.get().versions(name.id());
			if (versions.isEmpty() && read) {
				throw unknown(name.where(), name.id());
			}
			versions.forEach(name.fits());
		}
	}

	private InvalidPolicyException unknown(String where, String id) {
		String nearest = Nearest.of(id, this.policies.get().ids());
		return new InvalidPolicyException(where + " names policy '" + id + "', which does not exist.",
				((nearest != null) ? "Did you mean '" + nearest + "'? " : "")
						+ "Use a policy under 'ratelimit.policies', or add 'ratelimit.policies." + id + "'.");
	}

	private record Name(String where, String id, Consumer<Policy> fits) {
	}

}
