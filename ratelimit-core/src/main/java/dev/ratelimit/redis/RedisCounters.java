package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Counters in Redis, over one shared connection.
 *
 * <p>
 * On a single Redis one script call decides a request. In a cluster the counters of one
 * slot go into one call and the calls run in parallel; each takes or refuses by itself,
 * and when one refuses, or grants less, the others are given back what they took too
 * much. The give-back is on its way before the refusal is reported, on the connection
 * that any later check of those counters uses, so nobody who saw the refusal can find the
 * permits still gone.
 */
public final class RedisCounters implements Counters {

	private static final byte[] REDIS_TIME = {};

	private final Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands;

	private final boolean cluster;

	private final @Nullable LongSupplier micros;

	private RedisCounters(Supplier<@Nullable RedisClusterAsyncCommands<byte[], byte[]>> commands, boolean cluster,
			@Nullable LongSupplier micros) {
		this.commands = commands;
		this.cluster = cluster;
		this.micros = micros;
	}

	public static RedisCounters on(RedisConnector connector) {
		return new RedisCounters(connector::commands, connector.cluster(), null);
	}

	public static RedisCounters on(StatefulRedisConnection<byte[], byte[]> connection) {
		return new RedisCounters(connection::async, false, null);
	}

	public static RedisCounters on(StatefulRedisClusterConnection<byte[], byte[]> connection) {
		return new RedisCounters(connection::async, true, null);
	}

	/**
	 * The same counters on another clock than Redis's: a seam for tests.
	 */
	RedisCounters at(LongSupplier micros) {
		return new RedisCounters(this.commands, this.cluster, micros);
	}

	/**
	 * Loads the scripts, in a cluster on every node, so that the first checks need not.
	 */
	static CompletionStage<Void> load(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		CompletableFuture<?>[] loads = new CompletableFuture<?>[Algorithm.values().length];
		for (Algorithm algorithm : Algorithm.values()) {
			loads[algorithm.ordinal()] = commands.scriptLoad(LuaScript.of(algorithm).text()).toCompletableFuture();
		}
		return CompletableFuture.allOf(loads);
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

	@Override
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits) {
		Collection<List<Counter>> slots = slots(counters);
		if (slots.size() == 1) {
			return take(counters, permits);
		}
		List<CompletableFuture<Grant>> parts = slots.stream()
			.map((slot) -> take(slot, permits).toCompletableFuture())
			.toList();
		return CompletableFuture.allOf(parts.toArray(CompletableFuture<?>[]::new))
			.handle((done, failure) -> level(counters, permits, parts, failure));
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		Map<Integer, List<Reading>> slots = new LinkedHashMap<>();
		for (Reading reading : grant.readings()) {
			slots.computeIfAbsent(slot(reading.counter()), (slot) -> new ArrayList<>()).add(reading);
		}
		CompletableFuture<?>[] calls = slots.values()
			.stream()
			.map((readings) -> returned(readings, permits).toCompletableFuture())
			.toArray(CompletableFuture<?>[]::new);
		return CompletableFuture.allOf(calls);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.get();
		if (commands == null) {
			return notConnected();
		}
		byte[][] keys = counters.stream()
			.map((counter) -> counter.key().getBytes(StandardCharsets.ISO_8859_1))
			.toArray(byte[][]::new);
		return commands.unlink(keys).thenApply((count) -> null);
	}

	/**
	 * Makes one grant of those of the slots: what all of them granted, or nothing.
	 */
	private Grant level(List<Counter> counters, Permits permits, List<CompletableFuture<Grant>> parts,
			@Nullable Throwable failure) {
		List<Grant> grants = parts.stream()
			.filter((part) -> !part.isCompletedExceptionally())
			.map(CompletableFuture::join)
			.toList();
		long common = (failure != null) ? 0 : grants.stream().mapToLong(Grant::permits).min().orElseThrow();
		Map<String, Reading> readings = new LinkedHashMap<>();
		for (Grant grant : grants) {
			long excess = grant.permits() - common;
			if (excess > 0) {
				returned(grant.readings(), excess);
			}
			for (Reading reading : grant.readings()) {
				readings.put(reading.counter().key(), (excess > 0) ? reading.without(excess) : reading);
			}
		}
		if (failure != null) {
			throw (failure instanceof CompletionException wrapped) ? wrapped : new CompletionException(failure);
		}
		return new Grant(permits, common, counters.stream().map((counter) -> readings.get(counter.key())).toList());
	}

	private CompletionStage<Grant> take(List<Counter> counters, Permits permits) {
		return call(new ScriptCall.Entry(counters, permits, 0))
			.thenApply((outcome) -> new Grant(permits, outcome.taken(), outcome.readings()));
	}

	private CompletionStage<ScriptCall.Outcome> returned(List<Reading> readings, long permits) {
		List<Counter> counters = readings.stream().map(Reading::counter).toList();
		return call(new ScriptCall.Entry(counters, Permits.exactly(permits), readings.get(0).time()));
	}

	private CompletionStage<ScriptCall.Outcome> call(ScriptCall.Entry entry) {
		return call(new ScriptCall(List.of(entry))).thenApply((outcomes) -> outcomes.get(0).requireSound());
	}

	/**
	 * Sends a call. A node that does not know the script gets its text, which it then
	 * knows.
	 */
	CompletionStage<List<ScriptCall.Outcome>> call(ScriptCall call) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.get();
		if (commands == null) {
			return notConnected();
		}
		LuaScript script = call.script();
		byte[][] keys = call.keys();
		byte[][] arguments = call.arguments(time());
		CompletionStage<List<Object>> reply = commands.<List<Object>>evalsha(script.sha(), ScriptOutputType.MULTI, keys,
				arguments);
		return reply
			.exceptionallyCompose((failure) -> unknownScript(failure)
					? commands.eval(script.text(), ScriptOutputType.MULTI, keys, arguments)
					: CompletableFuture.failedStage(failure))
			.thenApply(call::decode);
	}

	private static <T> CompletionStage<T> notConnected() {
		return CompletableFuture.failedStage(new RedisConnectionException("not connected to Redis"));
	}

	private static boolean unknownScript(Throwable failure) {
		return failure instanceof RedisNoScriptException || failure.getCause() instanceof RedisNoScriptException;
	}

	private Collection<List<Counter>> slots(List<Counter> counters) {
		if (!this.cluster || counters.size() == 1) {
			return List.of(counters);
		}
		Map<Integer, List<Counter>> slots = new LinkedHashMap<>();
		for (Counter counter : counters) {
			slots.computeIfAbsent(slot(counter), (slot) -> new ArrayList<>()).add(counter);
		}
		return slots.values();
	}

	private int slot(Counter counter) {
		return this.cluster ? SlotHash.getSlot(counter.key()) : 0;
	}

	private byte[] time() {
		return (this.micros != null) ? Long.toString(this.micros.getAsLong()).getBytes(StandardCharsets.ISO_8859_1)
				: REDIS_TIME;
	}

}
