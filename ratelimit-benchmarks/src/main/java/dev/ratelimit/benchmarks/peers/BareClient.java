package dev.ratelimit.benchmarks.peers;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;

/**
 * Clients of contenders that use Lettuce themselves. Lettuce times every command if the
 * library for it is on the class path, as it is here; ours does without, so these do too.
 */
final class BareClient {

	private static final ClientResources RESOURCES = ClientResources.builder()
		.commandLatencyRecorder(CommandLatencyRecorder.disabled())
		.build();

	private BareClient() {
	}

	static RedisClient to(RedisURI uri) {
		return RedisClient.create(RESOURCES, uri);
	}

}
