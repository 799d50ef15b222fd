package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Penalty;
import dev.ratelimit.penalty.Ban;
import dev.ratelimit.penalty.CallerKey;
import dev.ratelimit.penalty.PenaltyListener;
import dev.ratelimit.penalty.PenaltyStore;

/**
 * Offences in Redis: one key next to each counter, in its slot, and one list of bans for
 * the fleet. In a cluster each caller has a call of its own, so that a slot that moves
 * keeps none from being answered.
 */
public final class RedisPenalties implements PenaltyStore {

	private static final LuaScript SCRIPT = LuaScript.named("penalty");

	private static final LuaScript BAN_SCRIPT = LuaScript.named("ban");

	private static final LuaScript BANS_SCRIPT = LuaScript.named("bans");

	private static final String COOL_DOWN = "cool-down";

	private static final String BAN = "ban";

	/** In place of a caller: the list has no room for a ban. */
	private static final String UNLISTED = "*";

	private static final Duration TIMEOUT = Duration.ofMillis(800);

	/** Callers of one call, which then takes at most 0.4 ms. */
	private static final int MOST_CALLERS = 20;

	/** Bans that are read by one call, which then takes at most 0.5 ms. */
	private static final int PAGE = 200;

	/** Longer than any ban. */
	private static final Duration KEPT = Duration.ofDays(32);

	private static final int NUMBERS = 5;

	/** As ban.lua numbers them. */
	private static final Listed.Outcome[] OUTCOMES = { Listed.Outcome.FULL, Listed.Outcome.LISTED,
			Listed.Outcome.LIFTED };

	private final RedisSender sender;

	private final RedisConnector connector;

	private final RedisSignals signals;

	private final byte[] channel;

	private final byte[][] list;

	private final byte[][] writtenList;

	/**
	 * Creates the store of a fleet.
	 * @param connector the limiter's connection
	 * @param signals tell the fleet
	 * @param prefix first part of the keys
	 */
	public RedisPenalties(RedisConnector connector, RedisSignals signals, String prefix) {
		this.sender = RedisSender.on(connector);
		this.connector = connector;
		this.signals = signals;
		this.channel = RedisSender.bytes(signals.channel());
		this.list = new byte[][] { RedisSender.bytes(prefix + ":{fleet}:bans"),
				RedisSender.bytes(prefix + ":{fleet}:bans:revision") };
		this.writtenList = new byte[][] { this.list[0], this.list[1],
				RedisSender.bytes(prefix + ":{fleet}:bans:lifted") };
	}

	@Override
	public CompletionStage<List<@Nullable Verdict>> report(List<Report> reports) {
		int most = this.connector.isCluster() ? 1 : MOST_CALLERS;
		List<CompletableFuture<List<@Nullable Verdict>>> calls = new ArrayList<>();
		for (int i = 0; i < reports.size(); i += most) {
			calls.add(call(reports.subList(i, Math.min(i + most, reports.size()))).toCompletableFuture());
		}
		return CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new)).handle((done, failure) -> {
			if (failure != null && calls.stream().allMatch(CompletableFuture::isCompletedExceptionally)) {
				throw RedisErrors.translate(failure);
			}
			List<@Nullable Verdict> verdicts = new ArrayList<>(reports.size());
			for (int i = 0; i < calls.size(); i++) {
				int size = Math.min(most, reports.size() - i * most);
				verdicts.addAll(calls.get(i).isCompletedExceptionally() ? none(size) : calls.get(i).join());
			}
			return verdicts;
		});
	}

	private CompletionStage<List<@Nullable Verdict>> call(List<Report> reports) {
		byte[][] keys = new byte[reports.size()][];
		List<byte[]> arguments = new ArrayList<>(1 + 11 * reports.size());
		arguments.add(this.channel);
		for (int i = 0; i < keys.length; i++) {
			Report report = reports.get(i);
			keys[i] = key(report.caller());
			Penalty terms = report.terms();
			for (long number : new long[] { report.offences(), report.age(), report.count(), report.time(),
					report.end(), terms.after(), micros(terms.coolDown()), micros(terms.max()), terms.banAfter(),
					micros(terms.banFor()) }) {
				arguments.add(RedisSender.bytes(number));
			}
			arguments.add(RedisSender.bytes(text(report.caller())));
		}
		return this.sender.call(SCRIPT, keys, arguments.toArray(byte[][]::new), TIMEOUT)
			.thenApply((reply) -> decode(reply, keys.length));
	}

	private static List<@Nullable Verdict> decode(List<Object> reply, int callers) {
		List<@Nullable Verdict> verdicts = new ArrayList<>(callers);
		for (int i = 0; i < callers * NUMBERS; i += NUMBERS) {
			long began = (Long) reply.get(i + 4);
			verdicts.add(new Verdict((Long) reply.get(i), (Long) reply.get(i + 1), (Long) reply.get(i + 2),
					(Long) reply.get(i + 3),
					(began == 0) ? null : (began == 1) ? PenaltyListener.Kind.COOL_DOWN : PenaltyListener.Kind.BAN));
		}
		return verdicts;
	}

	private static List<@Nullable Verdict> none(int size) {
		List<@Nullable Verdict> none = new ArrayList<>(size);
		for (int i = 0; i < size; i++) {
			none.add(null);
		}
		return none;
	}

	@Override
	public CompletionStage<Listed> list(Ban ban, long known) {
		return write(ban.caller(), Math.max(1, ban.left().toMillis()), known)
			.thenApply((reply) -> new Listed(OUTCOMES[Math.toIntExact((Long) reply.get(0))], (Long) reply.get(1)));
	}

	@Override
	public CompletionStage<Void> lift(CallerKey caller) {
		return this.sender.send(TIMEOUT, (commands) -> commands.unlink(key(caller)))
			.thenCompose((count) -> write(caller, 0, 0))
			.thenApply((written) -> null);
	}

	private CompletionStage<List<Object>> write(CallerKey caller, long millis, long known) {
		byte[][] arguments = { this.channel, RedisSender.bytes(text(caller)), RedisSender.bytes(millis),
				RedisSender.bytes(MOST_BANS), RedisSender.bytes(KEPT.toMillis()), RedisSender.bytes(known) };
		return this.sender.call(BAN_SCRIPT, this.writtenList, arguments, TIMEOUT);
	}

	@Override
	public CompletionStage<Long> revision() {
		return page(0, -1, List.of()).thenApply(Bans::revision);
	}

	@Override
	public CompletionStage<Bans> bans() {
		return page(0, PAGE - 1, List.of());
	}

	/** Reads up to a last place, and on from there if there may be more. */
	private CompletionStage<Bans> page(int first, int last, List<Ban> before) {
		// From 1 to 0 is nothing: the revision only.
		boolean nothing = last < first;
		byte[][] arguments = { RedisSender.bytes(nothing ? 1 : first), RedisSender.bytes(nothing ? 0 : last) };
		return this.sender.call(BANS_SCRIPT, this.list, arguments, TIMEOUT).thenCompose((reply) -> {
			List<Ban> bans = new ArrayList<>(before);
			for (int i = 2; i < reply.size(); i += 2) {
				long left = (Long) reply.get(i);
				CallerKey caller = caller(new String((byte[]) reply.get(i + 1), StandardCharsets.UTF_8));
				if (caller != null && left > 0) {
					bans.add(new Ban(caller, Duration.ofMillis(left)));
				}
			}
			boolean more = reply.size() > 2 * PAGE && bans.size() < MOST_BANS;
			return more ? page(last + 1, last + PAGE, bans) : CompletableFuture
				.completedStage(new Bans((Long) reply.get(0), bans, Duration.ofMillis((Long) reply.get(1))));
		});
	}

	@Override
	public void listen(Listener listener) {
		this.signals.listen(COOL_DOWN, (texts) -> texts.forEach((text) -> {
			String[] parts = text.split(" ", 2);
			CallerKey caller = (parts.length == 2) ? caller(parts[1]) : null;
			if (caller != null) {
				listener.coolDown(caller, Duration.ofMillis(Long.parseLong(parts[0])));
			}
		}));
		this.signals.listen(BAN, new RedisSignals.Listener() {

			@Override
			public void received(List<String> texts) {
				texts.forEach((text) -> ban(text, listener));
			}

			@Override
			public void missed() {
				listener.missed();
			}

		});
	}

	private static void ban(String text, Listener listener) {
		String[] parts = text.split(" ", 3);
		if (parts.length == 3) {
			long revision = Long.parseLong(parts[0]);
			Duration left = Duration.ofMillis(Long.parseLong(parts[1]));
			CallerKey caller = caller(parts[2]);
			if (caller != null) {
				listener.ban(revision, caller, left);
			}
			else if (parts[2].equals(UNLISTED)) {
				listener.unlisted(revision, left);
			}
		}
	}

	/** The key next to the counter's: {@code rl:3gp:{…}…} for {@code rl:3g:{…}…}. */
	private static byte[] key(CallerKey caller) {
		int tag = caller.key().indexOf(":{");
		return RedisSender.bytes(caller.key().substring(0, tag) + 'p' + caller.key().substring(tag));
	}

	private static String text(CallerKey caller) {
		return caller.key() + ' ' + caller.policy() + ' ' + caller.limit();
	}

	private static @Nullable CallerKey caller(String text) {
		String[] parts = text.split(" ");
		return (parts.length == 3) ? new CallerKey(parts[0], parts[1], parts[2]) : null;
	}

	private static long micros(Duration duration) {
		return duration.toNanos() / 1_000;
	}

}
