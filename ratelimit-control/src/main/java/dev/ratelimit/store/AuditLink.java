package dev.ratelimit.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;

/**
 * Place of an entry in the chain. The hash is the SHA-256 of number, hash of the entry
 * before, id, time in microseconds since 1970, action, outcome, actor, target, before,
 * after and reason, each in UTF-8 behind the number of its bytes and a colon.
 *
 * @param number 1 for the first entry of the chain
 * @param previous hash of the entry before, empty for the first
 */
public record AuditLink(long number, String previous, String hash) {

	AuditHead head() {
		return new AuditHead(this.number, this.hash);
	}

	/** Whether the hash is that of this content. */
	boolean matches(AuditRecord attempt) {
		return this.hash.equals(hash(this.number, this.previous, attempt));
	}

	static String hash(long number, String previous, AuditRecord attempt) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			for (String field : List.of(Long.toString(number), previous, attempt.id(),
					Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, attempt.time())), attempt.action(),
					attempt.outcome(), attempt.actor(), attempt.target(), attempt.before(), attempt.after(),
					attempt.reason())) {
				byte[] bytes = field.getBytes(StandardCharsets.UTF_8);
				digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
				digest.update(bytes);
			}
			return HexFormat.of().formatHex(digest.digest());
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
