package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.redis.ClientSettings;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisCounters;

/**
 * Our limiter through its public interface, put together as the auto-configuration does
 * it, but without listeners. Degraded decisions count as failed: they are fast, but not
 * what is measured.
 */
final class Ours implements Contender {

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	/** Users of a tenant. */
	private static final int SHARED = 10;

	private final ClientResources threads = ClientResources.create();

	private final ClientResources resources = ClientSettings.resources(this.threads);

	private final RedisClient client;

	private final RedisConnector connector;

	private final Deadlines deadlines;

	private final RateLimiter limiter;

	private final Request[] requests;

	Ours(RedisURI uri, Policy policy, Keys keys, Duration deadline) {
		this.client = RedisClient.create(this.resources, uri);
		this.client.setOptions(ClientSettings.options(ClientOptions.create()));
		this.connector = RedisConnector.to(this.client, "redis");
		if (!this.connector.start(PATIENCE)) {
			throw new IllegalStateException("no connection to " + uri.getHost() + ":" + uri.getPort());
		}
		this.deadlines = new Deadlines(this.resources.eventExecutorGroup());
		PolicySet policies = PolicySet.of(policy);
		this.limiter = new PolicyRateLimiter(() -> policies, new CounterKeys("rl"), counters(),
				Fallback.to(new MemoryCounters(100_000, MemoryCounters::systemMicros)),
				new LimiterOptions(deadline, FailureMode.ALLOW, 64), List.of());
		this.requests = IntStream.range(0, keys.count()).mapToObj(Ours::request).toArray(Request[]::new);
	}

	private Counters counters() {
		Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());
		Counters guarded = new GuardedCounters(RedisCounters.on(this.connector), nodes, this.deadlines);
		HotCounters hot = new HotCounters(10_000, 10_000, () -> 1, System::nanoTime);
		return new LeasedCounters(guarded, LeaseOptions.DEFAULTS, () -> 1, hot, (permits) -> {
		}, System::nanoTime);
	}

	private static Request request(int key) {
		return Request.of(Limits.POLICY)
			.with(Dimension.USER, "user-" + (1_000_000_000 + key))
			.with(Dimension.TENANT, "tenant-" + (1_000_000 + key / SHARED))
			.with(Dimension.IP, "10." + (key >> 16) + "." + (key >> 8 & 0xff) + "." + (key & 0xff));
	}

	@Override
	public void check(int key, Answer answer) {
		this.limiter.check(this.requests[key])
			.whenComplete((decision, failure) -> answer.complete(outcome(decision, failure)));
	}

	private static Outcome outcome(@Nullable Decision decision, @Nullable Throwable failure) {
		return (failure != null || decision == null || decision.degraded()) ? Outcome.FAILED
				: Outcome.of(decision.allowed());
	}

	@Override
	public void close() {
		this.connector.close();
		this.deadlines.close();
		this.client.shutdown(Duration.ZERO, PATIENCE);
		this.resources.shutdown(0, 0, TimeUnit.MILLISECONDS);
		this.threads.shutdown(0, PATIENCE.toMillis(), TimeUnit.MILLISECONDS).awaitUninterruptibly();
	}

}
