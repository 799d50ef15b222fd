package dev.ratelimit.control;

import java.util.Map;

/**
 * Is called after the configuration was reloaded. What it throws is logged.
 */
@FunctionalInterface
public interface ReloadListener {

	void reloaded(Configuration before, Configuration after);

	/**
	 * The URL entries have changed.
	 * @param before by name, as the endpoint shows them
	 */
	default void urlsReloaded(Map<String, Object> before, Map<String, Object> after) {
	}

}
