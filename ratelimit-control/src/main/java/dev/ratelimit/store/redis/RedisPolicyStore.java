package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongConsumer;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * Policies and other records in Redis, which may be another one than the counters'. A
 * write is one script: Redis runs nothing else meanwhile, and keeps or loses its effects
 * as a whole. All keys share a hash tag, or in a cluster that could not be one call.
 *
 * <p>
 * Nothing expires. The records are worth more than the counters: they need a Redis that
 * does not evict and writes to disk.
 */
public final class RedisPolicyStore implements PolicyStore {

	/** What a signal of a write begins with; the rest is the revision. */
	static final String SIGNAL = "policies";

	private static final long TIMEOUT_MILLIS = 1_000;

	/** What one call reads, so that it holds Redis for less than a millisecond. */
	private static final int MAX_READ = 250;

	private static final int MAX_READ_BYTES = 256 * 1024;

	private final RedisConnector connector;

	private final String prefix;

	private final String channel;

	private final List<LongConsumer> subscribers = new CopyOnWriteArrayList<>();

	private volatile boolean subscribed;

	private RedisPolicyStore(RedisConnector connector, String prefix, String channel) {
		this.connector = connector;
		this.prefix = prefix + ":{policies}:";
		this.channel = channel;
	}

	/**
	 * The store of a fleet.
	 * @param connector the connection to its Redis
	 * @param signals of the same Redis; whoever made them starts and closes them
	 * @param prefix first part of the keys
	 */
	public static RedisPolicyStore on(RedisConnector connector, RedisSignals signals, String prefix) {
		RedisPolicyStore store = new RedisPolicyStore(connector, prefix, signals.channel());
		signals.listen(SIGNAL, new RedisSignals.Listener() {

			@Override
			public void received(List<String> texts) {
				store.tell(texts.stream().mapToLong(RedisPolicyStore::revision).max().orElse(0));
			}

			@Override
			public void missed() {
				store.subscribed = true;
				store.tell(0);
			}

		});
		return store;
	}

	@Override
	public CompletionStage<Changes> changesSince(long revision, int limit) {
		byte[][] keys = { key("meta"), key("order"), key("heads"), key("versions") };
		byte[][] arguments = { bytes(revision), bytes(Math.min(limit, MAX_READ)), bytes(MAX_READ_BYTES) };
		return send((commands) -> LuaScript.POLICIES_CHANGES.call(commands, keys, arguments))
			.thenApply(RedisPolicyStore::changes);
	}

	@Override
	public CompletionStage<List<RecordVersion>> write(List<Edit> edits, String actor, String reason) {
		Set<RecordKey> keys = new HashSet<>();
		edits.forEach((edit) -> keys.add(edit.key()));
		if (edits.size() > MAX_EDITS || keys.size() < edits.size()) {
			return CompletableFuture.failedStage(tooMany(edits.size()));
		}
		if (edits.isEmpty()) {
			return CompletableFuture.completedStage(List.of());
		}
		PolicyWrite write = new PolicyWrite(this.prefix, this.channel, SIGNAL, "", 0, actor, reason);
		edits.forEach((edit) -> write.add(edit.key(), edit.expect(), 0, edit.body()));
		return send(write::send).thenCompose((reply) -> written(edits, actor, reason, reply));
	}

	@Override
	public CompletionStage<Void> restore(String storeId, long revision, List<RecordVersion> records, String actor,
			String reason) {
		if (records.size() > MAX_EDITS) {
			return CompletableFuture.failedStage(tooMany(records.size()));
		}
		PolicyWrite write = new PolicyWrite(this.prefix, this.channel, SIGNAL, storeId, revision, actor, reason);
		records.forEach((record) -> write.add(record.key(), null, record.version(), record.body()));
		return send(write::send).thenApply((reply) -> null);
	}

	@Override
	public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
		byte[] history = key("history:" + RecordTexts.name(key));
		return send((commands) -> commands.lrange(history, 0, limit - 1L))
			.thenApply((texts) -> texts.stream().map((text) -> RecordTexts.version(key, text)).toList());
	}

	@Override
	public CompletionStage<Void> audit(AuditRecord entry) {
		byte[][] arguments = { bytes("action"), bytes(entry.action()), bytes("outcome"), bytes(entry.outcome()),
				bytes("actor"), bytes(entry.actor()), bytes("target"), bytes(entry.target()), bytes("before"),
				bytes(entry.before()), bytes("after"), bytes(entry.after()), bytes("reason"), bytes(entry.reason()) };
		return send((commands) -> LuaScript.POLICIES_AUDIT.call(commands, new byte[][] { key("audit") }, arguments))
			.thenApply((time) -> null);
	}

	@Override
	public CompletionStage<List<AuditRecord>> audit(@Nullable AuditPosition before, int limit) {
		String last = (before != null) ? lastBefore(before) : "+";
		return send((commands) -> commands.xrevrange(key("audit"), Range.create("-", last), Limit.from(limit)))
			.thenApply((entries) -> entries.stream().map(RedisPolicyStore::entry).toList());
	}

	@Override
	public CompletionStage<Boolean> lead(String task, String instance, Duration time) {
		byte[][] keys = { key("lead:" + task) };
		byte[][] arguments = { bytes(instance), bytes(time.toMillis()) };
		return send((commands) -> LuaScript.POLICIES_LEAD.call(commands, keys, arguments))
			.thenApply((reply) -> number(reply.get(0)) == 1);
	}

	@Override
	public AutoCloseable subscribe(LongConsumer listener) {
		this.subscribers.add(listener);
		if (this.subscribed) {
			listener.accept(0);
		}
		return () -> this.subscribers.remove(listener);
	}

	private static IllegalArgumentException tooMany(int records) {
		return new IllegalArgumentException(
				"a write has at most " + MAX_EDITS + " records, each once, but this one has " + records);
	}

	private void tell(long revision) {
		this.subscribers.forEach((subscriber) -> subscriber.accept(revision));
	}

	/** Strange text is heard as "something may have been missed". */
	private static long revision(String text) {
		try {
			return Long.parseLong(text);
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

	private static CompletionStage<List<RecordVersion>> written(List<Edit> edits, String actor, String reason,
			List<Object> reply) {
		if (number(reply.get(0)) == 0) {
			return CompletableFuture.failedStage(new ConflictException(number(reply.get(1)), number(reply.get(2))));
		}
		if (number(reply.get(0)) == 2) {
			return CompletableFuture.failedStage(new IllegalStateException(
					"Redis has lost a part of the records; let an instance reseed the store or accept what it has"));
		}
		Instant time = Instant.ofEpochMilli(number(reply.get(1)));
		List<RecordVersion> versions = new ArrayList<>(edits.size());
		for (int i = 0; i < edits.size(); i++) {
			Edit edit = edits.get(i);
			versions.add(new RecordVersion(edit.key(), number(reply.get(3 + i)), number(reply.get(2)) + i, edit.body(),
					actor, time, reason));
		}
		return CompletableFuture.completedStage(List.copyOf(versions));
	}

	private static Changes changes(List<Object> reply) {
		List<?> found = (List<?>) reply.get(2);
		List<RecordVersion> versions = new ArrayList<>(found.size() / 2);
		for (int i = 0; i < found.size(); i += 2) {
			RecordKey key = RecordTexts.key((byte[]) found.get(i));
			if (key != null) {
				versions.add(RecordTexts.version(key, (byte[]) found.get(i + 1)));
			}
		}
		return new Changes(text((byte[]) reply.get(0)), number(reply.get(1)), List.copyOf(versions));
	}

	/** Without a sequence it is the last of that time. */
	private static String lastBefore(AuditPosition position) {
		long micros = ChronoUnit.MICROS.between(Instant.EPOCH, position.time());
		return (position.sequence() > 0) ? micros + "-" + (position.sequence() - 1)
				: Long.toString(Math.max(0, micros - 1));
	}

	private static AuditRecord entry(StreamMessage<byte[], byte[]> message) {
		Map<String, String> fields = new HashMap<>();
		message.getBody().forEach((name, value) -> fields.put(text(name), text(value)));
		String[] id = message.getId().split("-");
		Instant time = Instant.EPOCH.plus(Long.parseLong(id[0]), ChronoUnit.MICROS);
		Function<String, String> field = (name) -> fields.getOrDefault(name, "");
		return new AuditRecord(time, Long.parseLong(id[1]), field.apply("action"), field.apply("outcome"),
				field.apply("actor"), field.apply("target"), field.apply("before"), field.apply("after"),
				field.apply("reason"));
	}

	private <T> CompletionStage<T> send(
			Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<T>> command) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connector.commands();
		if (commands == null) {
			return CompletableFuture.failedStage(new RedisConnectionException("not connected to Redis"));
		}
		try {
			return command.apply(commands).toCompletableFuture().orTimeout(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private byte[] key(String name) {
		return bytes(this.prefix + name);
	}

	static long number(Object reply) {
		return (Long) reply;
	}

	private static byte[] bytes(long number) {
		return bytes(Long.toString(number));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	/**
	 * A call of the script that writes.
	 */
	private static final class PolicyWrite {

		private final String prefix;

		private final List<byte[]> keys = new ArrayList<>();

		private final List<byte[]> arguments = new ArrayList<>();

		PolicyWrite(String prefix, String channel, String signal, String storeId, long revision, String actor,
				String reason) {
			this.prefix = prefix;
			for (String key : List.of("meta", "versions", "heads", "order")) {
				this.keys.add(bytes(prefix + key));
			}
			for (String argument : List.of(channel, signal, candidateId(), storeId, Long.toString(revision), actor,
					reason)) {
				this.arguments.add(bytes(argument));
			}
		}

		/** Not from the system's source of randomness, which blocks the thread. */
		private static String candidateId() {
			ThreadLocalRandom random = ThreadLocalRandom.current();
			return new UUID(random.nextLong(), random.nextLong()).toString();
		}

		void add(RecordKey key, @Nullable Long expect, long version, @Nullable String body) {
			String name = RecordTexts.name(key);
			this.keys.add(bytes(this.prefix + "history:" + name));
			this.arguments.add(bytes(name));
			this.arguments.add(bytes((expect != null) ? expect.toString() : ""));
			this.arguments.add(bytes(version));
			this.arguments.add(bytes((body != null) ? "w" : "d"));
			this.arguments.add(bytes((body != null) ? body : ""));
		}

		CompletionStage<List<Object>> send(RedisClusterAsyncCommands<byte[], byte[]> commands) {
			return LuaScript.POLICIES_WRITE.call(commands, this.keys.toArray(byte[][]::new),
					this.arguments.toArray(byte[][]::new));
		}

	}

}
