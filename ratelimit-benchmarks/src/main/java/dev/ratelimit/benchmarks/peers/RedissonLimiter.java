package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisURI;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import dev.ratelimit.benchmarks.load.Contender;

/**
 * Redisson's limiter with Redisson's defaults. It wants the rate of each key to be set
 * first; that is not measured.
 */
final class RedissonLimiter implements Contender {

	private static final int SET_AT_ONCE = 256;

	private final RedissonClient client;

	private final RRateLimiter[] limiters;

	RedissonLimiter(RedisURI uri, Keys keys) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://" + uri.getHost() + ":" + uri.getPort());
		this.client = Redisson.create(config);
		this.limiters = Arrays.stream(keys.names("user-"))
			.map(this.client::getRateLimiter)
			.toArray(RRateLimiter[]::new);
		long permits = keys.busy() ? 1_000_000 : 1_440;
		Duration window = keys.busy() ? Duration.ofSeconds(1) : Duration.ofDays(1);
		Semaphore room = new Semaphore(SET_AT_ONCE);
		for (RRateLimiter limiter : this.limiters) {
			room.acquireUninterruptibly();
			limiter.trySetRateAsync(RateType.OVERALL, permits, window).whenComplete((done, failure) -> room.release());
		}
		room.acquireUninterruptibly(SET_AT_ONCE);
	}

	@Override
	public void check(int key, Answer answer) {
		this.limiters[key].tryAcquireAsync()
			.whenComplete(
					(allowed, failure) -> answer.complete((failure != null) ? Outcome.FAILED : Outcome.of(allowed)));
	}

	@Override
	public void close() {
		this.client.shutdown(0, 2, TimeUnit.SECONDS);
	}

}
