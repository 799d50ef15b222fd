package dev.ratelimit.benchmarks.experiment;

import java.util.List;
import java.util.concurrent.Callable;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.lab.Usage;

/** Adds up who uses the processors while an experiment sends its load. */
final class Watch {

	private final MeasuredRedis redis;

	private Machine machine = new Machine(0, 0, 0, 0);

	private double seconds;

	private double redisSeconds;

	private double limiters;

	Watch(MeasuredRedis redis) {
		this.redis = redis;
	}

	/** Watches while instances execute an order. */
	List<Outcomes> during(Callable<List<Outcomes>> load) throws Exception {
		List<Outcomes> outcomes = watch(load);
		outcomes.forEach((each) -> this.limiters += each.cpuSeconds());
		return outcomes;
	}

	/** Watches a load on something else, whose processor time is added afterwards. */
	<T> T watch(Callable<T> load) throws Exception {
		Machine before = Machine.now();
		double redisBefore = this.redis.cpuSeconds();
		long start = System.nanoTime();
		T result = load.call();
		this.seconds += (System.nanoTime() - start) / 1e9;
		this.redisSeconds += this.redis.cpuSeconds() - redisBefore;
		this.machine = this.machine.plus(Machine.now().since(before));
		return result;
	}

	/** Takes processor time of limiters and load, in seconds. */
	void add(double cpuSeconds) {
		this.limiters += cpuSeconds;
	}

	/** What limited the experiment, with the evidence. */
	String bottleneck() {
		return Usage.of(this.machine, this.limiters, this.redisSeconds, this.seconds).bottleneck();
	}

}
