package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.TreeMap;

import dev.ratelimit.Algorithm;
import dev.ratelimit.algorithm.Formula;

/**
 * Reads the states that scripts store and tell. Only scripts write them; each script's
 * head describes its layout.
 */
final class States {

	private static final int INTEGER_LENGTH = 19;

	private States() {
	}

	static long[] decode(Algorithm algorithm, byte[] value) {
		if (value.length == 0) {
			return Formula.UNUSED;
		}
		if (algorithm == Algorithm.GCRA && value.length == INTEGER_LENGTH) {
			return new long[] { digits(value, 16, 19), digits(value, 0, 16), 0 };
		}
		ByteBuffer buffer = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
		return switch (algorithm) {
			case GCRA, FIXED_WINDOW -> pairs(buffer);
			case TOKEN_BUCKET -> buckets(buffer);
			case SLIDING_WINDOW_COUNTER -> windows(buffer);
			case SLIDING_WINDOW_LOG -> log(buffer);
		};
	}

	private static long[] pairs(ByteBuffer buffer) {
		long[] state = new long[buffer.remaining() / 14 * 3];
		for (int at = 0; at < state.length; at += 3) {
			state[at + 1] = (long) buffer.getDouble();
			state[at + 2] = Integer.toUnsignedLong(buffer.getInt());
			state[at] = Short.toUnsignedLong(buffer.getShort());
		}
		return state;
	}

	private static long[] buckets(ByteBuffer buffer) {
		long[] state = new long[buffer.remaining() / 22 * 5];
		for (int at = 0; at < state.length; at += 5) {
			state[at + 2] = (long) buffer.getDouble();
			state[at + 3] = Integer.toUnsignedLong(buffer.getInt());
			state[at + 1] = buffer.getInt();
			state[at + 4] = Integer.toUnsignedLong(buffer.getInt());
			state[at] = Short.toUnsignedLong(buffer.getShort());
		}
		return state;
	}

	private static long[] windows(ByteBuffer buffer) {
		long[] state = new long[buffer.remaining() / 18 * 4];
		for (int at = 0; at < state.length; at += 4) {
			state[at + 1] = (long) buffer.getDouble();
			state[at + 2] = Integer.toUnsignedLong(buffer.getInt());
			state[at + 3] = Integer.toUnsignedLong(buffer.getInt());
			state[at] = Short.toUnsignedLong(buffer.getShort());
		}
		return state;
	}

	/** A script tells some entries of a log, in any order and some of them twice. */
	private static long[] log(ByteBuffer buffer) {
		TreeMap<Long, long[]> entries = new TreeMap<>();
		while (buffer.hasRemaining()) {
			long time = (long) buffer.getDouble();
			entries.put(time, new long[] { time, (long) buffer.getDouble(), Integer.toUnsignedLong(buffer.getInt()) });
		}
		return entries.values().stream().flatMapToLong(Arrays::stream).toArray();
	}

	private static long digits(byte[] value, int from, int to) {
		long number = 0;
		for (int i = from; i < to; i++) {
			number = number * 10 + (value[i] - '0');
		}
		return number;
	}

}
