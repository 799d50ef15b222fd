package dev.ratelimit.redis;

import java.nio.ByteBuffer;
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

	/**
	 * Reads the next bytes as a state.
	 * @param told little-endian
	 */
	static long[] decode(Algorithm algorithm, ByteBuffer told, int length) {
		if (length == 0) {
			return Formula.UNUSED;
		}
		if (length == INTEGER_LENGTH) {
			long time = digits(told, 16);
			return new long[] { digits(told, 3), time, 0 };
		}
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET, FIXED_WINDOW -> pairs(told, length / 14);
			case SLIDING_WINDOW_COUNTER -> windows(told, length / 18);
			case SLIDING_WINDOW_LOG -> log(told, length / 20);
		};
	}

	private static long[] pairs(ByteBuffer buffer, int count) {
		long[] state = new long[count * 3];
		for (int at = 0; at < state.length; at += 3) {
			state[at + 1] = (long) buffer.getDouble();
			state[at + 2] = Integer.toUnsignedLong(buffer.getInt());
			state[at] = Short.toUnsignedLong(buffer.getShort());
		}
		return state;
	}

	private static long[] windows(ByteBuffer buffer, int count) {
		long[] state = new long[count * 4];
		for (int at = 0; at < state.length; at += 4) {
			state[at + 1] = (long) buffer.getDouble();
			state[at + 2] = Integer.toUnsignedLong(buffer.getInt());
			state[at + 3] = Integer.toUnsignedLong(buffer.getInt());
			state[at] = Short.toUnsignedLong(buffer.getShort());
		}
		return state;
	}

	/** A script tells some entries of a log, in any order and some of them twice. */
	private static long[] log(ByteBuffer buffer, int count) {
		TreeMap<Long, long[]> entries = new TreeMap<>();
		for (int i = 0; i < count; i++) {
			long time = (long) buffer.getDouble();
			entries.put(time, new long[] { time, (long) buffer.getDouble(), Integer.toUnsignedLong(buffer.getInt()) });
		}
		return entries.values().stream().flatMapToLong(Arrays::stream).toArray();
	}

	private static long digits(ByteBuffer buffer, int count) {
		long number = 0;
		for (int i = 0; i < count; i++) {
			number = number * 10 + (buffer.get() - '0');
		}
		return number;
	}

}
