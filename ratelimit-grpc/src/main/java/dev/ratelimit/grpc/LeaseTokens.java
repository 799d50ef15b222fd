package dev.ratelimit.grpc;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;

import com.google.protobuf.ByteString;
import com.google.rpc.Code;
import io.grpc.StatusException;

import dev.ratelimit.caller.Signatures;

/**
 * The tokens of leases: a version, when they were made, until when they hold, the granted
 * permits and the receipt of the counters, signed as a whole. A receipt contains keys of
 * counters, which are digests, and no value of the caller.
 */
final class LeaseTokens {

	/** What 16 limits of 8 quotas need while hashed values change their epoch. */
	static final int MAX_BYTES = 16 * 1024;

	private static final String FIELD = "token";

	private static final byte VERSION = 1;

	private static final int HEAD_BYTES = 1 + 3 * Long.BYTES;

	private final Signatures signatures;

	LeaseTokens(Signatures signatures) {
		this.signatures = signatures;
	}

	/**
	 * A token that is valid from now on.
	 * @param receipt empty if no counter was charged
	 * @throws StatusException if the token would be too large
	 */
	Lease issue(long permits, byte[] receipt, Duration expiry) throws StatusException {
		long now = this.signatures.now();
		long expires = now + expiry.toMillis();
		if (HEAD_BYTES + receipt.length + Signatures.BYTES > MAX_BYTES) {
			throw Statuses.error(Code.FAILED_PRECONDITION,
					"policy: its limits have too many counters for a token of " + MAX_BYTES + " bytes", null);
		}
		byte[] message = ByteBuffer.allocate(HEAD_BYTES + receipt.length)
			.put(VERSION)
			.putLong(now)
			.putLong(expires)
			.putLong(permits)
			.put(receipt)
			.array();
		ByteString token = ByteString.copyFrom(message).concat(ByteString.copyFrom(this.signatures.sign(now, message)));
		return new Lease(token, permits, expires, receipt);
	}

	/**
	 * Reads a token of this fleet.
	 * @throws StatusException if it is none, or has expired
	 */
	Lease read(ByteString token) throws StatusException {
		if (token.size() < HEAD_BYTES + Signatures.BYTES || token.size() > MAX_BYTES) {
			throw Statuses.invalid(FIELD, "is not the token of a lease");
		}
		byte[] bytes = token.toByteArray();
		byte[] message = Arrays.copyOf(bytes, bytes.length - Signatures.BYTES);
		ByteBuffer head = ByteBuffer.wrap(message);
		byte version = head.get();
		long issued = head.getLong();
		long expires = head.getLong();
		if (version != VERSION
				|| !this.signatures.verify(issued, message, Arrays.copyOfRange(bytes, message.length, bytes.length))) {
			throw Statuses.invalid(FIELD, "was not signed by this fleet, or is damaged");
		}
		if (this.signatures.now() >= expires) {
			throw expired();
		}
		return new Lease(token, head.getLong(), expires, Arrays.copyOfRange(message, HEAD_BYTES, message.length));
	}

	boolean hasExpired(Lease lease) {
		return this.signatures.now() >= lease.expires();
	}

	static StatusException expired() {
		return Statuses.error(Code.FAILED_PRECONDITION, FIELD + ": the lease has expired; what was granted stays taken",
				null);
	}

	/**
	 * What a token says.
	 *
	 * @param permits that were granted
	 * @param expires when it expires, in milliseconds since 1970
	 * @param receipt empty if no counter was charged
	 */
	record Lease(ByteString token, long permits, long expires, byte[] receipt) {
	}

}
