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
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Corrected;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.NodeCounters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * Counters in Redis, over one shared connection. One script call decides for counters of
 * one slot; on a single Redis all counters share one. Requests to a busy node share
 * calls, see {@link Lane}.
 */
public final class RedisCounters implements NodeCounters {

	/** From this number on, idle lanes are dropped. */
	private static final int MANY_LANES = 100;

	private static final Runnable NOTHING = () -> {
	};

	private final Supplier<@Nullable Link> link;

	/** Name of the node while there is no link. */
	private final String nameWithoutLink;

	private final boolean cluster;

	private final Calls calls;

	private final Map<String, Lane> lanes = new ConcurrentHashMap<>();

	private final @Nullable RedisSignals signals;

	private RedisCounters(Supplier<@Nullable Link> link, String nameWithoutLink, boolean cluster,
			@Nullable LongSupplier micros, @Nullable RedisSignals signals) {
		this.link = link;
		this.nameWithoutLink = nameWithoutLink;
		this.cluster = cluster;
		this.calls = new Calls(link, micros);
		this.signals = signals;
	}

	public static RedisCounters on(RedisConnector connector) {
		return new RedisCounters(connector::link, connector.name(), connector.isCluster(), null, null);
	}

	/**
	 * Counters whose resets are announced to all instances.
	 */
	public static RedisCounters on(RedisConnector connector, RedisSignals signals) {
		return new RedisCounters(connector::link, connector.name(), connector.isCluster(), null, signals);
	}

	public static RedisCounters on(StatefulRedisConnection<byte[], byte[]> connection) {
		SingleLink link = new SingleLink(connection, "redis", NOTHING, NOTHING);
		link.verify().toCompletableFuture().join();
		return new RedisCounters(() -> link, "redis", false, null, null);
	}

	public static RedisCounters on(StatefulRedisClusterConnection<byte[], byte[]> connection) {
		ClusterLink link = new ClusterLink(connection);
		return new RedisCounters(() -> link, "redis", true, null, null);
	}

	/**
	 * The same counters on another clock than Redis's: a seam for tests.
	 */
	RedisCounters at(LongSupplier micros) {
		return new RedisCounters(this.link, this.nameWithoutLink, this.cluster, micros, this.signals);
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

	@Override
	public int slot(Counter counter) {
		// Without a link all counters are on one node, and need no keys.
		return (this.cluster && this.link.get() != null) ? counter.slot() : 0;
	}

	@Override
	public String node(Counter counter) {
		Link link = this.link.get();
		return (link != null) ? link.node(counter) : this.nameWithoutLink;
	}

	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		PendingAcquire call = new PendingAcquire(counters, permits, 0, attempt, timeout);
		call.grant().exceptionally((failure) -> Grant.unanswered(permits, counters, failure)).thenAccept(answer);
		try {
			acquire(counters.isEmpty() ? this.nameWithoutLink : node(counters.get(0)), call);
		}
		catch (RuntimeException ex) {
			call.failed(UnansweredException.of(ex));
		}
	}

	/**
	 * Takes permits. The deadline of the call only says until when it is worth sending:
	 * an answer that comes later may have counted and is still awaited.
	 */
	@Override
	public void acquire(String node, NodeCall call) {
		int counters = call.counters().size();
		if (call.permits().debt() > 0) {
			call.failed(UnansweredException.of(new IllegalArgumentException("counters in Redis do not lend")));
		}
		else if (counters == 0 || counters > ScriptCall.MAX_COUNTERS) {
			call.failed(UnansweredException.of(new IllegalArgumentException(
					"a request has 1 to " + ScriptCall.MAX_COUNTERS + " counters but was given " + counters)));
		}
		else {
			lane(node).enter(call);
		}
	}

	/**
	 * Gives back to each counter by itself, at the time at which it granted: counters of
	 * one grant may have granted at different times. What is recorded returns only if no
	 * other attempt holds it.
	 */
	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		List<PendingAcquire> requests = new ArrayList<>(grant.readings().size());
		List<AttemptReading> released = new ArrayList<>(0);
		for (Reading reading : grant.readings()) {
			AttemptReading recorded = AttemptReading.of(reading);
			if (recorded != null) {
				released.add(recorded);
				continue;
			}
			for (Reading.Taken taken : reading.taken(grant.permits(), permits)) {
				requests.add(new PendingAcquire(List.of(reading.counter()), Permits.exactly(taken.permits()),
						taken.time(), ClientSettings.COMMAND_TIMEOUT));
			}
		}
		Stream<CompletionStage<Void>> releases = ReleaseCall.of(grant, released, permits).stream().map(this::release);
		return all(Stream.concat(Stream.of(giveBack(requests)), releases));
	}

	private CompletionStage<Void> giveBack(List<PendingAcquire> requests) {
		enter(requests);
		return all(requests.stream().map(PendingAcquire::grant));
	}

	private CompletionStage<Void> release(ReleaseCall call) {
		return this.calls.attempt(call).thenCompose((outcomes) -> giveBack(call.others(outcomes)));
	}

	private static CompletionStage<Void> all(Stream<? extends CompletionStage<?>> stages) {
		return CompletableFuture
			.allOf(stages.map(CompletionStage::toCompletableFuture).toArray(CompletableFuture<?>[]::new));
	}

	@Override
	public CompletionStage<Corrected> settle(Correction correction, long last) {
		SettleCall call = new SettleCall(correction, last);
		return this.calls.attempt(call).thenApply((outcomes) -> call.corrected());
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		Link link = this.link.get();
		RedisClusterAsyncCommands<byte[], byte[]> commands = (link != null) ? link.commands() : null;
		if (commands == null) {
			return CompletableFuture.failedStage(RedisErrors.NOT_CONNECTED);
		}
		byte[][] keys = counters.stream()
			.map((counter) -> counter.key().getBytes(StandardCharsets.ISO_8859_1))
			.toArray(byte[][]::new);
		return commands.unlink(keys)
			.exceptionallyCompose((failure) -> CompletableFuture.failedStage(RedisErrors.translate(failure)))
			.thenCompose((count) -> announce(counters));
	}

	@Override
	public String toString() {
		return "counters in Redis";
	}

	/** After the deletion, so that no instance reads the old state again. */
	private CompletionStage<Void> announce(List<Counter> counters) {
		return (this.signals != null) ? this.signals.send(ForgetSignal.TYPE, ForgetSignal.text(counters))
				: CompletableFuture.completedStage(null);
	}

	/** Requests that come together also leave together. */
	private void enter(List<PendingAcquire> requests) {
		Map<Lane, List<NodeCall>> lanes = new LinkedHashMap<>();
		for (PendingAcquire request : requests) {
			try {
				lanes.computeIfAbsent(lane(node(request.counters().get(0))), (lane) -> new ArrayList<>(2)).add(request);
			}
			catch (RuntimeException ex) {
				request.failed(UnansweredException.of(ex));
			}
		}
		lanes.forEach(Lane::enter);
	}

	private Lane lane(String node) {
		Lane lane = this.lanes.get(node);
		return (lane != null) ? lane : newLane(node);
	}

	/**
	 * Nodes come and go, often with another address. A lane that is dropped while a
	 * request enters it still sends.
	 */
	private Lane newLane(String node) {
		if (this.lanes.size() >= MANY_LANES) {
			this.lanes.values().removeIf(Lane::isIdle);
		}
		return this.lanes.computeIfAbsent(node, (name) -> new Lane(this.cluster, this.calls));
	}

	CompletionStage<List<ScriptCall.Outcome>> call(ScriptCall call) {
		return this.calls.send(call);
	}

}
