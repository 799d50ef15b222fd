package dev.ratelimit.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationListener;

import dev.ratelimit.Policy;
import dev.ratelimit.background.Listeners;
import dev.ratelimit.control.Configuration;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.ReloadListener;

/**
 * Reloads policies, lists and URL entries when the environment has changed. An invalid
 * configuration does not fail the refresh: the log and the endpoint name the mistake, and
 * the last good policy or list stays in force.
 *
 * <p>
 * The names of the changed properties do not matter: a quota may be a placeholder for any
 * of them.
 */
record PolicyRefresh(LivePolicies live, ConfigurationReader reader, ReloadedUrls urls,
		List<ReloadListener> listeners) implements ApplicationListener<EnvironmentChangeEvent> {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** Most ids in a line of the log. */
	private static final int NAMED = 20;

	@Override
	public void onApplicationEvent(EnvironmentChangeEvent event) {
		try {
			Map<String, Object> urls = this.urls.documents();
			// Twice: an entry and its policy may only be valid after the change of the
			// other.
			reloadUrls((warning) -> {
			});
			Map<String, Object> first = this.urls.documents();
			Configuration before = reloadPolicies();
			reloadUrls(logger::warn);
			Map<String, Object> changed = this.urls.documents();
			if (!changed.equals(first) && !this.live.rejected().isEmpty()) {
				// What an entry could not use before may fit now.
				reloadPolicies();
			}
			Configuration after = this.live.configuration();
			// Behind the change: a listener may block.
			Listeners.callAll(this.listeners, (listener) -> listener.reloaded(before, after));
			if (!changed.equals(urls)) {
				Listeners.callAll(this.listeners, (listener) -> listener.urlsReloaded(urls, changed));
			}
		}
		catch (RuntimeException ex) {
			logger.error("Policies could not be reloaded from the configuration; the previous ones stay in force", ex);
		}
	}

	private void reloadUrls(Consumer<String> warnings) {
		this.live.changeUses(() -> this.urls.reload(warnings));
	}

	/** Returns the configuration before. */
	private Configuration reloadPolicies() {
		List<Configuration> replaced = new ArrayList<>();
		this.live.configure((before) -> {
			Configuration after = this.reader.read(before);
			log(before, after);
			replaced.add(before);
			return after;
		});
		return replaced.get(0);
	}

	private void log(Configuration before, Configuration after) {
		Set<String> changed = different(after.policies(), before.policies());
		Set<String> removed = new TreeSet<>(before.policies().keySet());
		removed.removeAll(after.policies().keySet());
		boolean lists = !before.allow().equals(after.allow()) || !before.deny().equals(after.deny());
		if (!changed.isEmpty() || !removed.isEmpty() || lists) {
			logger.info("The configuration was reloaded: policies new or changed: {}; removed: {}{}; lists {}",
					names(changed), names(removed),
					removed.isEmpty() ? "" : " (requests that name them use the last version)",
					lists ? "changed" : "unchanged");
		}
		changed.stream()
			.map(after.policies()::get)
			.flatMap((policy) -> this.reader.warnings(policy).stream())
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
