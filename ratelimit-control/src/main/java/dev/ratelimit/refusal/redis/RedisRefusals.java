package dev.ratelimit.refusal.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.regex.Pattern;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.StreamMessage;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.redis.LuaScript;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.refusal.Refusal;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalQuery;

/**
 * The refusals of the fleet in one stream in Redis. Times are those of Redis's clock: an
 * instance sends the age of a refusal. A batch is one script call. A search reads pages
 * of the stream and filters them here, so that no call occupies Redis for long. Searches
 * run one after the other on their own connection, made for the first one: checks must
 * not wait behind the pages.
 */
public final class RedisRefusals implements RefusalHistory, AutoCloseable {

	private static final LuaScript SCRIPT = LuaScript.named("refusals");

	/** Searches that may wait for others. */
	static final int MAX_WAITING = 16;

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration TIMEOUT = Duration.ofMillis(1_000);

	private static final int PAGE = 250;

	/** Entries that one search reads before it answers. */
	private static final int MAX_READ = 20_000;

	/** An entry for repeats arrives at the end of their interval. */
	private static final Duration LATEST_ARRIVAL = Duration.ofSeconds(75);

	private static final Pattern ID = Pattern.compile("\\d{1,15}-\\d{1,9}");

	private final RedisSender sender;

	private final RedisConnector reader;

	private boolean connecting;

	private int searches;

	private CompletableFuture<?> lastSearch = CompletableFuture.completedFuture(null);

	private final byte[] key;

	private final int maxEntries;

	private final Duration retention;

	private final InstantSource clock;

	/**
	 * @param sender over the limiter's connection
	 * @param reader another connection, not started yet, for reading; closed with this
	 * @param prefix first part of the key
	 */
	public RedisRefusals(RedisSender sender, RedisConnector reader, String prefix, int maxEntries, Duration retention,
			InstantSource clock) {
		this.sender = sender;
		this.reader = reader;
		this.key = RedisSender.bytes(prefix + ":{refusals}:history");
		this.maxEntries = maxEntries;
		this.retention = retention;
		this.clock = clock;
	}

	@Override
	public CompletionStage<Void> add(List<Refusal> refusals) {
		long now = this.clock.millis();
		List<byte[]> arguments = new ArrayList<>(2 + 2 * refusals.size());
		arguments.add(RedisSender.bytes(this.maxEntries));
		arguments.add(RedisSender.bytes(this.retention.toMillis()));
		for (Refusal refusal : refusals) {
			arguments.add(RedisSender.bytes(Math.max(0, now - refusal.time().toEpochMilli())));
			arguments.add(RedisSender.bytes(RefusalCodec.encode(refusal)));
		}
		return this.sender.call(SCRIPT, new byte[][] { this.key }, arguments.toArray(byte[][]::new), TIMEOUT)
			.thenApply((reply) -> null);
	}

	@Override
	public synchronized CompletionStage<Page> find(RefusalQuery query) {
		if (this.searches > MAX_WAITING) {
			return CompletableFuture.failedStage(
					new RejectedExecutionException(MAX_WAITING + " searches of the history are waiting already"));
		}
		this.searches++;
		CompletableFuture<Page> search = this.lastSearch.handleAsync((page, failure) -> query).thenCompose(this::read);
		this.lastSearch = search.whenComplete((page, failure) -> finished());
		return search;
	}

	private synchronized void finished() {
		this.searches--;
	}

	/** Closes the connection for reading. */
	@Override
	public void close() {
		this.reader.close();
	}

	private CompletionStage<Page> read(RefusalQuery query) {
		connect();
		String before = query.before();
		String last = (before != null) ? idBefore(before)
				: (query.to() != null) ? Long.toString(query.to().plus(LATEST_ARRIVAL).toEpochMilli()) : "+";
		long oldest = this.clock.instant().minus(this.retention).toEpochMilli();
		long first = (query.from() != null) ? Math.max(oldest, query.from().toEpochMilli()) : oldest;
		return find(query, Long.toString(Math.max(0, first)), last, new ArrayList<>(), 0);
	}

	@Override
	public String keeper() {
		return "redis";
	}

	/** Called by one search at a time. */
	private void connect() {
		if (!this.connecting) {
			this.connecting = true;
			this.reader.start(CONNECT_TIMEOUT, "the history of refusals cannot be read until it can");
		}
	}

	private CompletionStage<Page> find(RefusalQuery query, String first, String last, List<Refusal> found, int read) {
		return page(first, last).thenComposeAsync((page) -> {
			for (StreamMessage<byte[], byte[]> message : page) {
				Refusal refusal = decode(message.getBody());
				if (refusal != null && query.matches(refusal)) {
					found.add(refusal);
					if (found.size() == query.limit()) {
						return CompletableFuture.completedStage(new Page(found, message.getId()));
					}
				}
			}
			if (page.size() < PAGE) {
				return CompletableFuture.completedStage(new Page(found, null));
			}
			String lastRead = page.get(page.size() - 1).getId();
			return (read + PAGE >= MAX_READ) ? CompletableFuture.completedStage(new Page(found, lastRead))
					: find(query, first, idBefore(lastRead), found, read + PAGE);
		});
	}

	private CompletionStage<List<StreamMessage<byte[], byte[]>>> page(String first, String last) {
		return RedisSender.on(this.reader)
			.send(TIMEOUT, (commands) -> commands.xrevrange(this.key, Range.create(first, last), Limit.from(PAGE)));
	}

	/** An invalid id starts with the newest entry. */
	private static String idBefore(String id) {
		if (!ID.matcher(id).matches()) {
			return "+";
		}
		int dash = id.indexOf('-');
		long millis = Long.parseLong(id.substring(0, dash));
		long number = Long.parseLong(id.substring(dash + 1));
		// Without a number it is the last of that millisecond.
		return (number > 0) ? millis + "-" + (number - 1) : Long.toString(Math.max(0, millis - 1));
	}

	private static @Nullable Refusal decode(Map<byte[], byte[]> fields) {
		String time = "";
		String text = "";
		for (Map.Entry<byte[], byte[]> field : fields.entrySet()) {
			String value = new String(field.getValue(), StandardCharsets.UTF_8);
			if (field.getKey().length == 1 && field.getKey()[0] == 't') {
				time = value;
			}
			else {
				text = value;
			}
		}
		return RefusalCodec.decode(time, text);
	}

}
