package dev.ratelimit.fleet;

import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * The revision of the policy store that each live instance has read.
 */
@FunctionalInterface
public interface FleetRevisions {

	/**
	 * The revisions by the name of the instance. Fails if they cannot be read.
	 */
	CompletionStage<Map<String, Long>> revisions();

}
