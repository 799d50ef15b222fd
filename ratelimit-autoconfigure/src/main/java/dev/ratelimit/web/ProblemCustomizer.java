package dev.ratelimit.web;

import java.util.Map;

import dev.ratelimit.Decision;

/**
 * Changes the problem document of a refused request. A bean of this type may add, change
 * or remove members; it cannot change the status of the response. If it throws, the
 * document is sent without any customisation.
 */
@FunctionalInterface
public interface ProblemCustomizer {

	/**
	 * Changes a problem document.
	 * @param problem members by name, in the order in which they are written; values are
	 * texts, numbers, booleans, lists and maps
	 * @param decision what was decided
	 */
	void customize(Map<String, Object> problem, Decision decision);

}
