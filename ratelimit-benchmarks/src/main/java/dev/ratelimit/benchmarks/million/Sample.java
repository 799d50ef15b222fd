package dev.ratelimit.benchmarks.million;

import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.peers.Ours;

/**
 * What was held at one moment.
 *
 * @param keys in Redis
 * @param redisBytes memory of Redis
 * @param localCounters leases and remembered refusals of the instance
 * @param heapBytes of the instance, after its last collection as far as that is known
 */
record Sample(long keys, long redisBytes, long localCounters, long heapBytes) {

	static Sample of(MeasuredRedis redis, Ours limiter) {
		Runtime runtime = Runtime.getRuntime();
		return new Sample(redis.keys(), Long.parseLong(redis.info("used_memory")), limiter.localCounters(),
				runtime.totalMemory() - runtime.freeMemory());
	}

}
