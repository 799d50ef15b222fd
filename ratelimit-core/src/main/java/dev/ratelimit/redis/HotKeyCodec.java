package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Limit;
import dev.ratelimit.caller.SealedHashes;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotMark;

/**
 * Text of rates and marks in Redis. A counter is its key, policy, limit and sealed hash,
 * separated by blanks. A mark has lines of a name and a value; unknown names and invalid
 * entries are ignored.
 */
final class HotKeyCodec {

	private final SealedHashes hashes;

	HotKeyCodec(SealedHashes hashes) {
		this.hashes = hashes;
	}

	String encode(CounterName name) {
		return name.key() + ' ' + name.policy() + ' ' + name.limit() + ' ' + this.hashes.seal(name.hash());
	}

	String encode(HotMark mark) {
		return "counter " + encode(mark.name()) + "\nactor " + mark.actor() + "\nreason " + mark.reason()
				+ ((mark.split() > 1) ? "\nsplit " + mark.split() : "");
	}

	/**
	 * Reads counters and numbers in turn.
	 */
	<T> List<T> decode(List<?> reply, BiFunction<CounterName, Long, T> make) {
		List<T> keys = new ArrayList<>(reply.size() / 2);
		for (int i = 0; i + 1 < reply.size(); i += 2) {
			CounterName name = name(text(reply.get(i)));
			if (name != null) {
				keys.add(make.apply(name, (long) Double.parseDouble(text(reply.get(i + 1)))));
			}
		}
		return keys;
	}

	/**
	 * Reads milliseconds, keys and texts in turn.
	 */
	List<HotMark> decodeMarks(List<?> reply) {
		List<HotMark> marks = new ArrayList<>(reply.size() / 3);
		for (int i = 0; i + 2 < reply.size(); i += 3) {
			Map<String, String> parts = new HashMap<>();
			text(reply.get(i + 2)).lines().forEach((line) -> {
				int space = line.indexOf(' ');
				parts.put((space < 0) ? line : line.substring(0, space), (space < 0) ? "" : line.substring(space + 1));
			});
			CounterName name = name(parts.getOrDefault("counter", ""));
			if (name != null) {
				marks.add(new HotMark(name, Duration.ofMillis((Long) reply.get(i)),
						parts.getOrDefault("actor", "unknown"), parts.getOrDefault("reason", ""),
						split(parts.get("split"))));
			}
		}
		return marks;
	}

	private static int split(@Nullable String text) {
		try {
			int split = (text != null) ? Integer.parseInt(text) : 1;
			return (split >= 1 && split <= Limit.MAX_SPLIT) ? split : 1;
		}
		catch (NumberFormatException ex) {
			return 1;
		}
	}

	private @Nullable CounterName name(String text) {
		String[] parts = text.split(" ");
		try {
			return (parts.length == 4)
					? new CounterName(parts[0], parts[1], parts[2], this.hashes.open(Integer.parseInt(parts[3])))
					: null;
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	private static String text(Object reply) {
		return (reply instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(reply);
	}

}
