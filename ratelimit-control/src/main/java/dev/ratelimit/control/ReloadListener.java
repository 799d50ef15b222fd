package dev.ratelimit.control;

/**
 * Is called after the configuration was reloaded. What it throws is logged.
 */
@FunctionalInterface
public interface ReloadListener {

	void reloaded(Configuration before, Configuration after);

}
