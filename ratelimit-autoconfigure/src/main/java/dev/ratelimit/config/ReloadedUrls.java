package dev.ratelimit.config;

import java.util.function.Consumer;

/**
 * Reads URL entries from the environment once more. No class of spring-web is in its
 * signature: an application without HTTP loads it too.
 */
@FunctionalInterface
public interface ReloadedUrls {

	/** For an application without HTTP. */
	ReloadedUrls NONE = (warnings) -> {
	};

	/**
	 * Puts the valid entries in force; each of the others keeps its last valid version.
	 * @param warnings gets a text for each invalid entry
	 */
	void reload(Consumer<String> warnings);

}
