package dev.ratelimit.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.background.Listeners;
import dev.ratelimit.redis.LuaScript;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditHead;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.Forgotten;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.StoreLostException;
import dev.ratelimit.store.StoreWrite;

/**
 * Keeps records in Redis, the counters' or another one. A write is one script, so Redis
 * keeps or loses it as a whole. All keys share a hash tag, so that a cluster can run it.
 *
 * <p>
 * Nothing expires, but the audit trail is cut and deleted records are
 * {@linkplain Forgotten forgotten} after a while. The records are worth more than
 * counters: they need a Redis that does not evict and that writes to disk.
 */
public final class RedisPolicyStore implements PolicyStore, AutoCloseable {

	private static final LuaScript WRITE = LuaScript.named("policies-write");

	private static final LuaScript CHANGES = LuaScript.named("policies-changes");

	private static final LuaScript FORGET = LuaScript.named("policies-forget");

	private static final LuaScript LEAD = LuaScript.named("policies-lead");

	private static final LuaScript SUMS = LuaScript.named("fleet-sums");

	private static final long SUM_EXPIRY_MILLIS = Duration.ofDays(1).toMillis();

	/** First word of the signal of a write; the revision follows. */
	static final String SIGNAL = "policies";

	private static final String KEYS = ":{policies}:";

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	/** Per call, so that it occupies Redis for less than a millisecond. */
	private static final int MAX_READ = 250;

	private static final int MAX_READ_BYTES = 256 * 1024;

	private final RedisSender sender;

	private final String prefix;

	private final String channel;

	private final RedisAudit audit;

	private final List<LongConsumer> subscribers = new CopyOnWriteArrayList<>();

	private volatile boolean subscribed;

	/**
	 * @param signals of the same Redis; the caller starts and closes them
	 * @param reader another connection to the same Redis, not started yet, for scans of
	 * the audit trail; closed with this
	 * @param prefix first part of the keys
	 * @param auditPrefix first part of the key of the audit trail
	 */
	public RedisPolicyStore(RedisSender sender, RedisSignals signals, RedisConnector reader, String prefix,
			String auditPrefix) {
		this.sender = sender;
		this.prefix = prefix + KEYS;
		// A trail with another key has a chain of its own.
		this.audit = new RedisAudit(sender, reader, auditPrefix + KEYS + "audit", this.prefix + "chain:" + auditPrefix);
		this.channel = signals.channel();
		signals.listen(SIGNAL, new RedisSignals.Listener() {

			@Override
			public void received(List<String> texts) {
				notifySubscribers(texts.stream().mapToLong(RedisPolicyStore::revision).max().orElse(0));
			}

			@Override
			public void missed() {
				RedisPolicyStore.this.subscribed = true;
				notifySubscribers(0);
			}

		});
	}

	@Override
	public CompletionStage<Changes> changesSince(long revision, int limit) {
		return call(CHANGES, List.of("meta", "order", "heads", "versions"),
				List.of(revision, Math.min(limit, MAX_READ), MAX_READ_BYTES))
			.thenApply(RedisPolicyStore::changes);
	}

	@Override
	public CompletionStage<List<RecordVersion>> write(List<Edit> edits, Seen seen, String actor, String reason) {
		return edits.isEmpty() ? CompletableFuture.completedStage(List.of())
				: write(() -> StoreWrite.of(edits, seen, actor, reason));
	}

	@Override
	public CompletionStage<Void> restore(String storeId, long revision, long version, List<RecordVersion> records) {
		return write(() -> StoreWrite.restoring(storeId, revision, version, records)).thenApply((versions) -> null);
	}

	@Override
	public CompletionStage<Void> forget(List<RecordVersion> deletions, Seen seen) {
		if (deletions.size() > MAX_EDITS) {
			return CompletableFuture.failedStage(new IllegalArgumentException(
					"at most " + MAX_EDITS + " records can be forgotten at once, but these are " + deletions.size()));
		}
		List<String> keys = new ArrayList<>(List.of("meta", "versions", "heads", "order"));
		List<Object> arguments = new ArrayList<>(List.of(seen.name(), seen.revision()));
		for (RecordVersion deletion : deletions) {
			keys.add("history:" + deletion.key().name());
			arguments.addAll(List.of(deletion.key().name(), deletion.revision()));
		}
		return call(FORGET, keys, arguments).thenCompose((reply) -> (number(reply.get(0)) >= 0)
				? CompletableFuture.completedStage(null) : CompletableFuture.failedStage(new StoreLostException()));
	}

	private CompletionStage<List<RecordVersion>> write(Supplier<StoreWrite> wanted) {
		StoreWrite write;
		try {
			write = wanted.get();
		}
		catch (IllegalArgumentException ex) {
			return CompletableFuture.failedStage(ex);
		}
		List<String> keys = new ArrayList<>(List.of("meta", "versions", "heads", "order"));
		List<Object> arguments = new ArrayList<>(List.of(this.channel, SIGNAL, candidateId(), write.storeId(),
				write.revision(), write.seen().name(), write.seen().revision(), KEPT_VERSIONS, write.version()));
		for (StoreWrite.Entry entry : write.entries()) {
			keys.add("history:" + entry.key().name());
			arguments.addAll(List.of(entry.key().name(), (entry.expect() != null) ? entry.expect() : "",
					entry.version(), (entry.body() != null) ? "w" : "d", (entry.body() != null) ? entry.body() : "",
					entry.actor(), (entry.time() != null) ? entry.time().toEpochMilli() : "", entry.reason()));
		}
		return call(WRITE, keys, arguments).thenCompose((reply) -> written(write, reply));
	}

	/** Not a SecureRandom, which may block. */
	private static String candidateId() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		return new UUID(random.nextLong(), random.nextLong()).toString();
	}

	@Override
	public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
		byte[] history = key("history:" + key.name());
		return this.sender.send(TIMEOUT, (commands) -> commands.lrange(history, 0, limit - 1L))
			.thenApply((texts) -> texts.stream().map((text) -> RecordCodec.version(key, text)).toList());
	}

	@Override
	public CompletionStage<Void> audit(AuditRecord attempt, @Nullable AuditPosition remove) {
		return this.audit.add(attempt, remove);
	}

	@Override
	public CompletionStage<List<AuditEntry>> audit(@Nullable AuditPosition before, int limit) {
		return this.audit.page(before, limit);
	}

	@Override
	public CompletionStage<List<AuditEntry>> scanAudit(@Nullable AuditPosition before) {
		return this.audit.scan(before);
	}

	@Override
	public CompletionStage<AuditHead> auditHead() {
		return this.audit.head();
	}

	/** Closes the connection for scans. */
	@Override
	public void close() {
		this.audit.close();
	}

	@Override
	public CompletionStage<Optional<Instant>> lead(String task, String instance, Duration time) {
		// Redis accepts no expiry below 1 ms.
		return call(LEAD, List.of("lead:" + task), List.of(instance, Math.max(1, time.toMillis())))
			.thenApply((reply) -> (number(reply.get(0)) == 1) ? Optional.of(Instant.ofEpochMilli(number(reply.get(1))))
					: Optional.empty());
	}

	@Override
	public CompletionStage<List<Long>> add(String name, List<Long> numbers) {
		List<Long> arguments = Stream.concat(Stream.of(SUM_EXPIRY_MILLIS), numbers.stream()).toList();
		return call(SUMS, List.of("sums:" + name), arguments)
			.thenApply((sums) -> sums.stream().map(RedisPolicyStore::number).toList());
	}

	@Override
	public AutoCloseable subscribe(LongConsumer listener) {
		this.subscribers.add(listener);
		if (this.subscribed) {
			listener.accept(0);
		}
		return () -> this.subscribers.remove(listener);
	}

	private void notifySubscribers(long revision) {
		Listeners.callAll(this.subscribers, (subscriber) -> subscriber.accept(revision));
	}

	/** 0, which makes subscribers read, if the text is not a revision. */
	private static long revision(String text) {
		try {
			return Long.parseLong(text);
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

	private static CompletionStage<List<RecordVersion>> written(StoreWrite write, List<Object> reply) {
		if (number(reply.get(0)) == 0) {
			return CompletableFuture.failedStage(new ConflictException(number(reply.get(1)), number(reply.get(2))));
		}
		if (number(reply.get(0)) == 2) {
			return CompletableFuture.failedStage(new StoreLostException());
		}
		Instant time = Instant.ofEpochMilli(number(reply.get(1)));
		List<RecordVersion> versions = new ArrayList<>();
		for (int i = 0; i < write.entries().size(); i++) {
			versions.add(write.entries().get(i).as(number(reply.get(3 + i)), number(reply.get(2)) + i, time));
		}
		return CompletableFuture.completedStage(List.copyOf(versions));
	}

	private static Changes changes(List<Object> reply) {
		List<?> found = (List<?>) reply.get(2);
		List<RecordVersion> versions = new ArrayList<>(found.size() / 2);
		for (int i = 0; i < found.size(); i += 2) {
			versions.add(RecordCodec.version(RecordKey.named(text((byte[]) found.get(i))), (byte[]) found.get(i + 1)));
		}
		return new Changes(text((byte[]) reply.get(0)), number(reply.get(1)), List.copyOf(versions),
				new Forgotten(number(reply.get(3)), number(reply.get(4))));
	}

	private CompletionStage<List<Object>> call(LuaScript script, List<String> keys, List<?> arguments) {
		return this.sender.call(script, keys.stream().map(this::key).toArray(byte[][]::new),
				RedisSender.bytes(arguments), TIMEOUT);
	}

	private byte[] key(String name) {
		return RedisSender.bytes(this.prefix + name);
	}

	private static long number(Object reply) {
		return (Long) reply;
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
