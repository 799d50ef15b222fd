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
final class StateCodec {

	private StateCodec() {
	}

	/**
	 * Reads the next bytes as a state.
	 * @param bytes little-endian
	 */
	static long[] decode(Algorithm algorithm, ByteBuffer bytes, int length) {
		if (length == 0) {
			return Formula.UNUSED;
		}
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> times(bytes, length);
			case FIXED_WINDOW -> pairs(bytes, length / 14);
			case SLIDING_WINDOW_COUNTER -> windows(bytes, length / 18);
			case SLIDING_WINDOW_LOG -> log(bytes, length / 20);
		};
	}

	/**
	 * Bytes of a state of GCRA without rests.
	 */
	static int length(int windows) {
		return 10 * windows + 2;
	}

	/** All times, all rests if there are some, all tags, and the expiry of the key. */
	private static long[] times(ByteBuffer buffer, int length) {
		boolean rests = length % 2 == 1;
		int count = rests ? length / 14 : length / 10;
		long[] state = new long[count * 3];
		for (int at = 0; at < state.length; at += 3) {
			state[at + 1] = (long) buffer.getDouble();
		}
		for (int at = 0; at < state.length && rests; at += 3) {
			state[at + 2] = Integer.toUnsignedLong(buffer.getInt());
		}
		for (int at = 0; at < state.length; at += 3) {
			state[at] = Short.toUnsignedLong(buffer.getShort());
		}
		buffer.position(buffer.position() + (rests ? 3 : 2));
		return state;
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

}
