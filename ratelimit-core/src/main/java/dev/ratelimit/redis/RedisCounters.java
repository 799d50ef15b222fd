package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.Shards;

/**
 * Counters in Redis, over one shared connection. One script call decides for counters of
 * one slot; on a single Redis all counters share one. Requests to a busy node share
 * calls, see {@link Lane}.
 */
public final class RedisCounters implements Shards {

	/** From here on those that nobody uses are dropped. */
	private static final int MANY_LANES = 100;

	private final Supplier<@Nullable Link> link;

	/** Whom to blame as long as there is no link. */
	private final String nowhere;

	private final Calls calls;

	private final Map<String, Lane> lanes = new ConcurrentHashMap<>();

	private final @Nullable RedisSignals signals;

	private RedisCounters(Supplier<@Nullable Link> link, String nowhere, @Nullable LongSupplier micros,
			@Nullable RedisSignals signals) {
		this.link = link;
		this.nowhere = nowhere;
		this.calls = new Calls(link, micros);
		this.signals = signals;
	}

	public static RedisCounters on(RedisConnector connector) {
		return new RedisCounters(connector::link, connector.name(), null, null);
	}

	/**
	 * Counters whose resets are told to all instances.
	 */
	public static RedisCounters on(RedisConnector connector, RedisSignals signals) {
		return new RedisCounters(connector::link, connector.name(), null, signals);
	}

	public static RedisCounters on(StatefulRedisConnection<byte[], byte[]> connection) {
		SingleLink link = new SingleLink(connection, "redis", SingleLink.Events.NONE);
		link.verify().toCompletableFuture().join();
		return new RedisCounters(() -> link, "redis", null, null);
	}

	public static RedisCounters on(StatefulRedisClusterConnection<byte[], byte[]> connection) {
		ClusterLink link = new ClusterLink(connection);
		return new RedisCounters(() -> link, "redis", null, null);
	}

	/**
	 * The same counters on another clock than Redis's: a seam for tests.
	 */
	RedisCounters at(LongSupplier micros) {
		return new RedisCounters(this.link, this.nowhere, micros, this.signals);
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

	@Override
	public int slot(Counter counter) {
		Link link = this.link.get();
		return (link != null) ? link.slot(counter) : 0;
	}

	@Override
	public String node(Counter counter) {
		Link link = this.link.get();
		return (link != null) ? link.node(counter) : this.nowhere;
	}

	/**
	 * Takes permits. The timeout is not kept here: what does not answer in time is still
	 * waited for, as it may have counted.
	 */
	@Override
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		if (permits.debt() > 0) {
			return CompletableFuture.failedStage(new IllegalArgumentException("counters in Redis do not lend"));
		}
		if (counters.isEmpty() || counters.size() > ScriptCall.MAX_COUNTERS) {
			return CompletableFuture.failedStage(new IllegalArgumentException(
					"a request has 1 to " + ScriptCall.MAX_COUNTERS + " counters but was given " + counters.size()));
		}
		Waiting request = new Waiting(counters, permits, 0, timeout);
		enter(request);
		return request;
	}

	/**
	 * Gives each counter back what it granted, at the time at which it did: counters of
	 * one grant may have granted at different times. It need not be one step, so no call
	 * has to hold all of them.
	 */
	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		List<Waiting> requests = new ArrayList<>(grant.readings().size());
		for (Reading reading : grant.readings()) {
			requests.add(new Waiting(List.of(reading.counter()), Permits.exactly(permits), reading.time(),
					ClientSettings.PATIENCE));
		}
		enter(requests);
		return CompletableFuture.allOf(requests.toArray(CompletableFuture<?>[]::new));
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		Link link = this.link.get();
		RedisClusterAsyncCommands<byte[], byte[]> commands = (link != null) ? link.commands() : null;
		if (commands == null) {
			return CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}
		byte[][] keys = counters.stream()
			.map((counter) -> counter.key().getBytes(StandardCharsets.ISO_8859_1))
			.toArray(byte[][]::new);
		return commands.unlink(keys)
			.exceptionallyCompose((failure) -> CompletableFuture.failedStage(Failures.translate(failure)))
			.thenCompose((count) -> told(counters));
	}

	@Override
	public String toString() {
		return "counters in Redis";
	}

	/** After the deletion, so that nobody learns the old state again. */
	private CompletionStage<Void> told(List<Counter> counters) {
		return (this.signals != null) ? this.signals.send(ForgetSignal.TYPE, ForgetSignal.text(counters))
				: CompletableFuture.completedStage(null);
	}

	private void enter(Waiting request) {
		try {
			lane(request).enter(request);
		}
		catch (RuntimeException ex) {
			request.completeExceptionally(ex);
		}
	}

	/** Requests that come together also leave together. */
	private void enter(List<Waiting> requests) {
		Map<Lane, List<Waiting>> lanes = new LinkedHashMap<>();
		for (Waiting request : requests) {
			try {
				lanes.computeIfAbsent(lane(request), (lane) -> new ArrayList<>(2)).add(request);
			}
			catch (RuntimeException ex) {
				request.completeExceptionally(ex);
			}
		}
		lanes.forEach(Lane::enter);
	}

	private Lane lane(Waiting request) {
		String node = node(request.counters().get(0));
		Lane lane = this.lanes.get(node);
		return (lane != null) ? lane : newLane(node);
	}

	/**
	 * Nodes come and go, and may have another address every time. A lane that is dropped
	 * while somebody enters it still sends.
	 */
	private Lane newLane(String node) {
		if (this.lanes.size() >= MANY_LANES) {
			this.lanes.values().removeIf(Lane::isIdle);
		}
		return this.lanes.computeIfAbsent(node,
				(name) -> new Lane((waiting) -> slot(waiting.counters().get(0)), this.calls));
	}

	CompletionStage<List<ScriptCall.Outcome>> call(ScriptCall call) {
		return this.calls.send(call);
	}

}
