package dev.ratelimit.benchmarks.experiment;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.lab.Usage;

/** Adds up who uses the processors while an experiment sends its load. */
final class Watch {

	private final MeasuredRedis redis;

	private final Machine before = Machine.now();

	private final double redisBefore;

	private final long start = System.nanoTime();

	private double limiters;

	Watch(MeasuredRedis redis) {
		this.redis = redis;
		this.redisBefore = redis.cpuSeconds();
	}

	/** Takes processor time of limiters and load, in seconds. */
	void add(double cpuSeconds) {
		this.limiters += cpuSeconds;
	}

	/** What limited the experiment, with the evidence. */
	String bottleneck() {
		Machine used = Machine.now().since(this.before);
		double redisSeconds = this.redis.cpuSeconds() - this.redisBefore;
		double seconds = (System.nanoTime() - this.start) / 1e9;
		return Usage.of(used, this.limiters, redisSeconds, seconds).bottleneck();
	}

}
