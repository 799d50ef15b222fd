package dev.ratelimit.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Instant;

import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * Versions of records in Redis. A version is a line with version, revision, milliseconds
 * since 1970, {@code w} or {@code d} for written or deleted, and the lengths of body and
 * actor in bytes; then body, actor and reason.
 */
final class RecordCodec {

	private RecordCodec() {
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
