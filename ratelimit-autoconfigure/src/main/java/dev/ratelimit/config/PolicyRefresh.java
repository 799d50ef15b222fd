package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationListener;

import dev.ratelimit.Policy;
import dev.ratelimit.control.Configuration;
import dev.ratelimit.control.LivePolicies;

/**
 * Reloads policies and lists when the environment has changed. Whatever the new
 * configuration says, a refresh does not fail by it: what cannot be meant is said in the
 * log and shown by the endpoint, and what was before it stays in force.
 *
 * <p>
 * The names of the properties that have changed are not looked at: a quota may be a
 * placeholder for any of them.
 */
class PolicyRefresh implements ApplicationListener<EnvironmentChangeEvent> {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** How many ids a line of the log names. */
	private static final int NAMED = 20;

	private final LivePolicies live;

	private final ConfigurationReader reader;

	PolicyRefresh(LivePolicies live, ConfigurationReader reader) {
		this.live = live;
		this.reader = reader;
	}

	@Override
	public void onApplicationEvent(EnvironmentChangeEvent event) {
		try {
			this.live.configure((before) -> {
				Configuration after = this.reader.read(before);
				tell(before, after);
				return after;
			});
		}
		catch (RuntimeException ex) {
			logger.error("Policies could not be reloaded from the configuration; those before stay in force", ex);
		}
	}

	private static void tell(Configuration before, Configuration after) {
		Set<String> changed = different(after.policies(), before.policies());
		Set<String> gone = new TreeSet<>(before.policies().keySet());
		gone.removeAll(after.policies().keySet());
		boolean lists = !before.allow().equals(after.allow()) || !before.deny().equals(after.deny());
		if (!changed.isEmpty() || !gone.isEmpty() || lists) {
			logger.info("The configuration was reloaded: policies new or changed: {}; gone: {}{}; lists {}",
					names(changed), names(gone),
					gone.isEmpty() ? "" : " (requests that name them are decided by the last version)",
					lists ? "changed" : "as before");
		}
		changed.stream()
			.map(after.policies()::get)
			.flatMap((policy) -> PolicyWarnings.warnings(policy).stream())
			.forEach(logger::warn);
	}

	private static Set<String> different(Map<String, Policy> policies, Map<String, Policy> from) {
		return policies.values()
			.stream()
			.filter((policy) -> !policy.equals(from.get(policy.id())))
			.map(Policy::id)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static String names(Set<String> ids) {
		if (ids.isEmpty()) {
			return "none";
		}
		List<String> named = ids.stream().limit(NAMED).toList();
		return String.join(", ", named) + ((ids.size() > NAMED) ? " and " + (ids.size() - NAMED) + " more" : "");
	}

}
