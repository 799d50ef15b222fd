package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * How records are written in Redis. A name is {@code kind/id}. A version is a line with
 * version, revision, milliseconds since 1970, whether it was written or deleted and the
 * bytes of body and actor; then body, actor and reason.
 */
final class RecordTexts {

	private static final Map<String, Kind> KINDS = Arrays.stream(Kind.values())
		.collect(Collectors.toMap(Kind::text, Function.identity()));

	private RecordTexts() {
	}

	static String name(RecordKey key) {
		return key.kind().text() + '/' + key.id();
	}

	/**
	 * The record that has this name, {@code null} if its kind is none that this version
	 * of the software knows.
	 */
	static @Nullable RecordKey key(byte[] name) {
		String text = text(name, 0, name.length);
		int slash = text.indexOf('/');
		Kind kind = KINDS.get(text.substring(0, Math.max(0, slash)));
		return (kind != null) ? new RecordKey(kind, text.substring(slash + 1)) : null;
	}

	static RecordVersion version(RecordKey key, byte[] text) {
		int line = 0;
		while (text[line] != '\n') {
			line++;
		}
		String[] fields = text(text, 0, line).split(" ", -1);
		int body = line + 1;
		int actor = body + Integer.parseInt(fields[4]);
		int reason = actor + Integer.parseInt(fields[5]);
		return new RecordVersion(key, Long.parseLong(fields[0]), Long.parseLong(fields[1]),
				fields[3].equals("d") ? null : text(text, body, actor), text(text, actor, reason),
				Instant.ofEpochMilli(Long.parseLong(fields[2])), text(text, reason, text.length));
	}

	private static String text(byte[] bytes, int from, int to) {
		return new String(bytes, from, to - from, StandardCharsets.UTF_8);
	}

}
