package dev.ratelimit.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.StreamMessage;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.redis.LuaScript;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditHead;
import dev.ratelimit.store.AuditLink;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;

/**
 * The audit trail in a stream, and the newest hash of its chain.
 *
 * <p>
 * Redis cannot compute SHA-256, so an instance does. It names the hash that its entry
 * follows, and the script adds the entry only if that is still the newest one. Otherwise
 * it returns the newest hash, and the instance tries again: of several writers at once,
 * each round lets one pass, and the others pause.
 *
 * <p>
 * <b>Once.</b> A lost answer leaves open whether the entry was added. It can only have
 * been added behind the hash that it named. If that is still the newest one, the same
 * call is safe to repeat. If it is not, a late call can add nothing, and the entries
 * since that hash tell whether the entry is among them. So an instance asks for the
 * newest hash before its first entry: one that names no hash could be anywhere.
 */
final class RedisAudit {

	private static final LuaScript SCRIPT = LuaScript.named("policies-audit");

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	/** Rounds in which other writers may be faster. */
	private static final int MAX_ROUNDS = 50;

	private static final long MAX_PAUSE_MILLIS = 100;

	/** Occupies Redis for less than a millisecond. */
	private static final int PAGE = 100;

	/** Entries that are searched for one whose answer was lost. */
	private static final int MAX_SEARCHED = 250 * PAGE;

	private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

	private static final int MAX_UNANSWERED = 1_000;

	private final RedisSender sender;

	private final RedisConnector reader;

	private final RedisSender scans;

	private final byte[] trail;

	private final byte[] chain;

	private boolean connecting;

	private volatile AuditHead newest = AuditHead.NONE;

	/** The hash that an entry without an answer followed, by the id of the entry. */
	private final Map<String, AuditHead> unanswered = Collections.synchronizedMap(new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, AuditHead> eldest) {
			return size() > MAX_UNANSWERED;
		}

	});

	/**
	 * Creates a trail.
	 * @param reader another connection, not started yet, for scans
	 */
	RedisAudit(RedisSender sender, RedisConnector reader, String trail, String chain) {
		this.sender = sender;
		this.reader = reader;
		this.scans = RedisSender.on(reader);
		this.trail = RedisSender.bytes(trail);
		this.chain = RedisSender.bytes(chain);
	}

	CompletionStage<Void> add(AuditRecord attempt, @Nullable AuditPosition remove) {
		AuditHead followed = this.unanswered.get(attempt.id());
		if (followed != null) {
			return add(attempt, remove, followed, true, 1);
		}
		AuditHead newest = this.newest;
		return newest.equals(AuditHead.NONE) ? head().thenCompose((head) -> add(attempt, remove, head, false, 1))
				: add(attempt, remove, newest, false, 1);
	}

	private CompletionStage<Void> add(AuditRecord attempt, @Nullable AuditPosition remove, AuditHead head,
			boolean again, int round) {
		AuditLink link = head.follow(attempt);
		byte[][] arguments = arguments(attempt, link, remove);
		return this.sender.send(TIMEOUT, (commands) -> {
			// Not before: without a connection nothing is sent, so nothing is open.
			this.unanswered.put(attempt.id(), head);
			return SCRIPT.call(commands, new byte[][] { this.trail, this.chain }, arguments);
		}).thenCompose((reply) -> {
			AuditHead newest = new AuditHead((Long) reply.get(1), text((byte[]) reply.get(2)));
			this.newest = newest;
			if ((Long) reply.get(0) == 1) {
				this.unanswered.remove(attempt.id());
				return CompletableFuture.completedStage(null);
			}
			CompletionStage<Boolean> written = again ? isSince(head, attempt.id(), null, 0)
					: CompletableFuture.completedStage(false);
			return written.thenCompose((done) -> {
				this.unanswered.remove(attempt.id());
				return done ? CompletableFuture.completedStage(null) : (round < MAX_ROUNDS)
						? later(round).thenCompose((now) -> add(attempt, remove, newest, false, round + 1))
						: CompletableFuture.failedStage(new IllegalStateException("other instances were faster"));
			});
		});
	}

	/**
	 * A pause at random that grows with the rounds: many writers must not try in step.
	 */
	private static CompletionStage<Void> later(int round) {
		long millis = ThreadLocalRandom.current().nextLong(Math.min(MAX_PAUSE_MILLIS, 1L << Math.min(round, 10)) + 1);
		return CompletableFuture.runAsync(() -> {
		}, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
	}

	/** Whether an entry has this id; searches back to the entry with the hash. */
	private CompletionStage<Boolean> isSince(AuditHead head, String id, @Nullable AuditPosition before, int searched) {
		if (searched >= MAX_SEARCHED) {
			return CompletableFuture.failedStage(
					new IllegalStateException("it is open whether an entry was added " + searched + " entries ago"));
		}
		return scan(before).thenComposeAsync((page) -> {
			for (AuditEntry entry : page) {
				if (entry.attempt().id().equals(id)) {
					return CompletableFuture.completedStage(true);
				}
				if (entry.link() != null && entry.link().hash().equals(head.hash())) {
					return CompletableFuture.completedStage(false);
				}
			}
			return page.isEmpty() ? CompletableFuture.completedStage(false)
					: isSince(head, id, page.get(page.size() - 1).position(), searched + page.size());
		});
	}

	CompletionStage<List<AuditEntry>> page(@Nullable AuditPosition before, int limit) {
		return page(this.sender, before, limit);
	}

	CompletionStage<List<AuditEntry>> scan(@Nullable AuditPosition before) {
		return CompletableFuture.runAsync(this::connect).thenCompose((done) -> page(this.scans, before, PAGE));
	}

	CompletionStage<AuditHead> head() {
		return this.sender
			.send(TIMEOUT,
					(commands) -> commands.hmget(this.chain, RedisSender.bytes("number"), RedisSender.bytes("hash")))
			.thenApply((values) -> values.get(0).hasValue()
					? new AuditHead(Long.parseLong(text(values.get(0).getValue())), text(values.get(1).getValue()))
					: AuditHead.NONE);
	}

	void close() {
		this.reader.close();
	}

	private synchronized void connect() {
		if (!this.connecting) {
			this.connecting = true;
			this.reader.start(CONNECT_TIMEOUT, "the audit trail cannot be verified until it can");
		}
	}

	private CompletionStage<List<AuditEntry>> page(RedisSender sender, @Nullable AuditPosition before, int limit) {
		String last = (before != null) ? lastBefore(before) : "+";
		return sender
			.send(TIMEOUT, (commands) -> commands.xrevrange(this.trail, Range.create("-", last), Limit.from(limit)))
			.thenApply((entries) -> entries.stream().map(RedisAudit::entry).toList());
	}

	private static byte[][] arguments(AuditRecord attempt, AuditLink link, @Nullable AuditPosition remove) {
		List<Object> arguments = new ArrayList<>(
				List.of(link.previous(), link.hash(), link.number(), (remove != null) ? firstAfter(remove) : ""));
		Stream
			.of("id", attempt.id(), "time", micros(attempt.time()), "action", attempt.action(), "outcome",
					attempt.outcome(), "actor", attempt.actor(), "target", attempt.target(), "before", attempt.before(),
					"after", attempt.after(), "reason", attempt.reason(), "number", link.number(), "previous",
					link.previous(), "hash", link.hash())
			.forEach(arguments::add);
		return RedisSender.bytes(arguments);
	}

	/** Without a sequence it is the last of that time. */
	private static String lastBefore(AuditPosition position) {
		long micros = micros(position.time());
		return (position.sequence() > 0) ? micros + "-" + (position.sequence() - 1)
				: Long.toString(Math.max(0, micros - 1));
	}

	private static String firstAfter(AuditPosition position) {
		return micros(position.time()) + "-" + (position.sequence() + 1);
	}

	private static AuditEntry entry(StreamMessage<byte[], byte[]> message) {
		Map<String, String> fields = new HashMap<>();
		message.getBody().forEach((name, value) -> fields.put(text(name), text(value)));
		String[] id = message.getId().split("-");
		AuditPosition position = new AuditPosition(time(Long.parseLong(id[0])), Long.parseLong(id[1]));
		return new AuditEntry(position,
				new AuditRecord(field(fields, "id"), time(number(fields, "time", Long.parseLong(id[0]))),
						field(fields, "action"), field(fields, "outcome"), field(fields, "actor"),
						field(fields, "target"), field(fields, "before"), field(fields, "after"),
						field(fields, "reason")),
				fields.containsKey("hash")
						? new AuditLink(number(fields, "number", 0), field(fields, "previous"), field(fields, "hash"))
						: null);
	}

	/** A forged entry must not make the trail unreadable. */
	private static long number(Map<String, String> fields, String name, long otherwise) {
		String text = field(fields, name);
		return NUMBER.matcher(text).matches() ? Long.parseLong(text) : otherwise;
	}

	private static String field(Map<String, String> fields, String name) {
		return fields.getOrDefault(name, "");
	}

	private static long micros(Instant time) {
		return ChronoUnit.MICROS.between(Instant.EPOCH, time);
	}

	private static Instant time(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
