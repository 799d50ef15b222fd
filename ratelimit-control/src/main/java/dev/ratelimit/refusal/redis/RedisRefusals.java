package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.refusal.Refusal;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalQuery;

/**
 * The refusals of the fleet in one stream in Redis. Times are those of Redis's clock: an
 * instance says how long ago a refusal was. A batch is one script call; who looks for a
 * refusal reads pages of the stream and picks, so that Redis is never busy with it for
 * long. Looks have a connection of their own, made with the first, and are made one after
 * the other: checks must not wait behind what a look reads.
 */
public final class RedisRefusals implements RefusalHistory, AutoCloseable {

	/** How many looks may wait for others. */
	static final int MOST_WAITING = 16;

	private static final Duration PATIENCE = Duration.ofSeconds(2);

	private static final long TIMEOUT_MILLIS = 1_000;

	private static final int PAGE = 250;

	/** How much of the history one look goes through before it shows what it has. */
	private static final int MOST_READ = 20_000;

	/** An entry arrives after what it tells of: at the end of a long interval. */
	private static final Duration LATEST_ARRIVAL = Duration.ofSeconds(75);

	private static final Pattern ID = Pattern.compile("\\d{1,15}-\\d{1,9}");

	private final RedisConnector connector;

	private final RedisConnector reader;

	private boolean connecting;

	private int looks;

	private CompletableFuture<?> lastLook = CompletableFuture.completedFuture(null);

	private final byte[] key;

	private final int maxEntries;

	private final Duration retention;

	private final InstantSource clock;

	private RedisRefusals(RedisConnector connector, RedisConnector reader, String prefix, int maxEntries,
			Duration retention, InstantSource clock) {
		this.connector = connector;
		this.reader = reader;
		this.key = bytes(prefix + ":{refusals}:history");
		this.maxEntries = maxEntries;
		this.retention = retention;
		this.clock = clock;
	}

	/**
	 * Those of a fleet.
	 * @param connector the limiter's connection
	 * @param reader another one, not started yet, to look by; closed with this
	 * @param prefix first part of the key
	 * @param maxEntries entries that are kept at most
	 * @param retention how long they are kept
	 * @param clock tells how long ago a refusal was
	 */
	public static RedisRefusals on(RedisConnector connector, RedisConnector reader, String prefix, int maxEntries,
			Duration retention, InstantSource clock) {
		return new RedisRefusals(connector, reader, prefix, maxEntries, retention, clock);
	}

	@Override
	public CompletionStage<Void> add(List<Refusal> refusals) {
		long now = this.clock.millis();
		List<byte[]> arguments = new ArrayList<>(2 + 2 * refusals.size());
		arguments.add(bytes(Integer.toString(this.maxEntries)));
		arguments.add(bytes(Long.toString(this.retention.toMillis())));
		for (Refusal refusal : refusals) {
			arguments.add(bytes(Long.toString(Math.max(0, now - refusal.time().toEpochMilli()))));
			arguments.add(bytes(RefusalTexts.encode(refusal)));
		}
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connector.commands();
		if (commands == null) {
			return CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}
		try {
			return LuaScript.REFUSALS.call(commands, new byte[][] { this.key }, arguments.toArray(byte[][]::new))
				.thenApply((reply) -> null);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	@Override
	public synchronized CompletionStage<Page> find(RefusalQuery query) {
		if (this.looks > MOST_WAITING) {
			return CompletableFuture.failedStage(new RejectedExecutionException(
					"there are " + MOST_WAITING + " looks at the history waiting already"));
		}
		this.looks++;
		CompletableFuture<Page> look = this.lastLook.handleAsync((page, failure) -> query).thenCompose(this::look);
		this.lastLook = look.whenComplete((page, failure) -> looked());
		return look;
	}

	private synchronized void looked() {
		this.looks--;
	}

	/** Closes the connection that is looked by. */
	@Override
	public void close() {
		this.reader.close();
	}

	private CompletionStage<Page> look(RefusalQuery query) {
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

	/** Called by one look at a time. */
	private void connect() {
		if (!this.connecting) {
			this.connecting = true;
			this.reader.start(PATIENCE, "nobody can look at the history of refusals until it can");
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
			return (read + PAGE >= MOST_READ) ? CompletableFuture.completedStage(new Page(found, lastRead))
					: find(query, first, idBefore(lastRead), found, read + PAGE);
		});
	}

	private CompletionStage<List<StreamMessage<byte[], byte[]>>> page(String first, String last) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.reader.commands();
		if (commands == null) {
			return CompletableFuture.failedStage(Failures.NOT_CONNECTED);
		}
		try {
			return commands.xrevrange(this.key, Range.create(first, last), Limit.from(PAGE))
				.toCompletableFuture()
				.copy()
				.orTimeout(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/** What is no id begins with the newest. */
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
		return RefusalTexts.decode(time, text);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
