package dev.ratelimit.config;

import java.util.Map;
import java.util.function.Consumer;

/**
 * Reads URL entries from the environment once more. No class of spring-web is in its
 * signature: an application without HTTP loads it too.
 */
public interface ReloadedUrls {

	/** For an application without HTTP. */
	ReloadedUrls NONE = new ReloadedUrls() {

		@Override
		public void reload(Consumer<String> warnings) {
		}

		@Override
		public Map<String, Object> documents() {
			return Map.of();
		}

	};

	/**
	 * Puts the valid entries in force; each of the others keeps its last valid version.
	 * @param warnings gets a text for each invalid entry
	 */
	void reload(Consumer<String> warnings);

	/**
	 * The entries in force by name, as the endpoint shows them.
	 */
	Map<String, Object> documents();

}
