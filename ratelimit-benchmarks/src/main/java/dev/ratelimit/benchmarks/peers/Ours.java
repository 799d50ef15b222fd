package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.redis.ClientSettings;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisCounters;

/**
 * Our limiter through its public interface, put together as the auto-configuration does
 * it, but without listeners. Degraded decisions count as failed: they are fast, but not
 * what is measured.
 */
public final class Ours implements Contender {

	/** Name of the policy. */
	public static final String POLICY = Limits.POLICY;

	private static final Duration PATIENCE = Duration.ofSeconds(5);

	/** Several cold JVMs may connect at the same time. */
	private static final Duration CONNECTED = Duration.ofSeconds(60);

	private static final Duration SETTLED = Duration.ofSeconds(20);

	/** Checks one after the other. */
	private static final int LIGHT_LOAD = 20;

	/** Five million requests would need more than a gigabyte. */
	private static final int MAX_KEPT = 100_000;

	/** Users of a tenant. */
	private static final int SHARED = 10;

	/** Without the metering of commands, which fails when these are closed at once. */
	private final ClientResources threads = ClientResources.builder()
		.commandLatencyRecorder(CommandLatencyRecorder.disabled())
		.build();

	private final ClientResources resources = ClientSettings.resources(this.threads);

	private final AbstractRedisClient client;

	private final RedisConnector connector;

	private final Deadlines deadlines;

	private final LeasedCounters counters;

	private final RateLimiter limiter;

	/** Those of the first callers; the others make theirs for each check. */
	private final Request[] requests;

	/**
	 * Connects a limiter.
	 * @param policy its only policy, named {@link #POLICY}
	 * @param keys number of callers
	 * @param deadline of a check
	 */
	public Ours(RedisURI uri, Policy policy, int keys, Duration deadline) {
		this(uri, List.of(policy), keys, new Options(deadline, 1, false));
	}

	/**
	 * Connects a limiter.
	 * @param policies one of them named {@link #POLICY}
	 * @param keys number of callers
	 */
	public Ours(RedisURI uri, List<Policy> policies, int keys, Options options) {
		if (options.cluster()) {
			RedisClusterClient cluster = RedisClusterClient.create(this.resources, uri);
			cluster.setOptions(ClientSettings.clusterOptions(ClientOptions.create()));
			this.client = cluster;
			this.connector = RedisConnector.to(cluster);
		}
		else {
			RedisClient single = RedisClient.create(this.resources, uri);
			single.setOptions(ClientSettings.options(ClientOptions.create()));
			this.client = single;
			this.connector = RedisConnector.to(single, "redis");
		}
		if (!this.connector.start(CONNECTED)) {
			throw new IllegalStateException("no connection to " + uri.getHost() + ":" + uri.getPort());
		}
		this.deadlines = new Deadlines(this.resources.eventExecutorGroup());
		this.counters = counters(options);
		this.limiter = RateLimiterBuilder.on(this.counters)
			.policies(policies.toArray(Policy[]::new))
			.options(new LimiterOptions(options.deadline(), FailureMode.ALLOW, 64))
			.build();
		this.requests = IntStream.range(0, Math.min(keys, MAX_KEPT)).mapToObj(Ours::request).toArray(Request[]::new);
	}

	private LeasedCounters counters(Options options) {
		Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());
		Counters guarded = RateLimiterBuilder.guarded(RedisCounters.on(this.connector), nodes, this.deadlines,
				options.deadline());
		HotCounters hot = new HotCounters(10_000, 10_000, options::instances, System::nanoTime);
		return RateLimiterBuilder.leased(guarded, LeaseOptions.DEFAULTS, options::instances, hot, (permits) -> {
		}, this.deadlines);
	}

	/** The request of a caller. */
	public static Request request(int key) {
		return Request.of(POLICY)
			.with(Dimension.USER, "user-" + (1_000_000_000 + key))
			.with(Dimension.TENANT, "tenant-" + (1_000_000 + key / SHARED))
			.with(Dimension.IP, "10." + (key >> 16) + "." + (key >> 8 & 0xff) + "." + (key & 0xff));
	}

	@Override
	public void check(int key, Answer answer) {
		check((key < MAX_KEPT) ? this.requests[key] : request(key), answer);
	}

	/** Checks any request. */
	public void check(Request request, Answer answer) {
		decide(request).whenComplete((decision, failure) -> answer.complete(outcome(decision, failure)));
	}

	/** The whole decision on a request. */
	public CompletionStage<Decision> decide(Request request) {
		return this.limiter.check(request);
	}

	/**
	 * Waits until a light load is decided by counters: a new connection may be late, and
	 * a breaker stays open for seconds.
	 * @param key the caller of the load
	 */
	public void awaitUndegraded(int key) {
		long end = System.nanoTime() + SETTLED.toNanos();
		for (int inTurn = 0; inTurn < LIGHT_LOAD && System.nanoTime() - end < 0;) {
			if (decide(request(key)).toCompletableFuture().join().degraded()) {
				inTurn = 0;
				LockSupport.parkNanos(10_000_000);
			}
			else {
				inTurn++;
			}
		}
	}

	/** How many leases and remembered refusals this instance holds. */
	public long localCounters() {
		return this.counters.size();
	}

	@Override
	public void fill(int key, Answer answer) {
		this.limiter.check(this.requests[key].withCost(Limits.LEAD))
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

	/**
	 * How an instance is set up.
	 *
	 * @param deadline of a check
	 * @param instances of the fleet
	 * @param cluster whether Redis is a cluster
	 */
	public record Options(Duration deadline, int instances, boolean cluster) {
	}

}
