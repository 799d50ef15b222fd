package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.lettuce.core.ScriptOutputType;
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
import dev.ratelimit.counter.UnansweredException;

/**
 * Counters in Redis, over one shared connection. One script call decides for counters of
 * one slot; on a single Redis all counters share one. Requests to a busy node share
 * calls, see {@link Lane}.
 */
public final class RedisCounters implements Shards {

	private static final byte[] REDIS_TIME = {};

	private final Supplier<@Nullable Link> link;

	/** Whom to blame as long as there is no link. */
	private final String nowhere;

	private final ScriptLoads loads = new ScriptLoads();

	private final Map<String, Lane> lanes = new ConcurrentHashMap<>();

	private final @Nullable LongSupplier micros;

	private final @Nullable RedisSignals signals;

	private RedisCounters(Supplier<@Nullable Link> link, String nowhere, @Nullable LongSupplier micros,
			@Nullable RedisSignals signals) {
		this.link = link;
		this.nowhere = nowhere;
		this.micros = micros;
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
		Waiting request = new Waiting(counters, permits, 0, timeout);
		enter(request);
		return request;
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		List<Counter> counters = grant.readings().stream().map(Reading::counter).toList();
		Waiting request = new Waiting(counters, Permits.exactly(permits), grant.readings().get(0).time(),
				ClientSettings.PATIENCE);
		enter(request);
		return request.thenApply((given) -> null);
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
		String node = node(request.counters().get(0));
		Lane lane = this.lanes.get(node);
		if (lane == null) {
			lane = this.lanes.computeIfAbsent(node,
					(name) -> new Lane((waiting) -> slot(waiting.counters().get(0)), this::call));
		}
		lane.enter(request);
	}

	CompletionStage<List<ScriptCall.Outcome>> call(ScriptCall call) {
		Link link = this.link.get();
		if (link == null) {
			return CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}
		LuaScript script = call.script();
		byte[][] keys = call.keys();
		byte[][] arguments = call.arguments(time());
		return send(link, (commands) -> commands.evalsha(script.sha(), ScriptOutputType.MULTI, keys,
				arguments))
			.exceptionallyCompose((failure) -> Failures.unknownScript(failure)
					? this.loads.load(script, call.counter(), link)
						.thenCompose((loaded) -> send(link, (commands) -> script.call(commands, keys, arguments)))
					: CompletableFuture.failedStage(failure))
			.handle((reply, failure) -> {
				if (failure != null) {
					throw failed(link, failure);
				}
				return call.decode(reply);
			});
	}

	private static CompletionStage<List<Object>> send(Link link,
			Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<List<Object>>> command) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = link.commands();
		return (commands != null) ? command.apply(commands) : CompletableFuture.failedStage(Failures.NOT_CONNECTED);
	}

	private static UnansweredException failed(Link link, Throwable failure) {
		UnansweredException translated = Failures.translate(failure);
		if (translated.reason() == Decision.Reason.READ_ONLY) {
			link.demoted();
		}
		return translated;
	}

	private byte[] time() {
		return (this.micros != null) ? Long.toString(this.micros.getAsLong()).getBytes(StandardCharsets.ISO_8859_1)
				: REDIS_TIME;
	}

}
