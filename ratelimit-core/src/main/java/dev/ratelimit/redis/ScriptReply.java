package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

import dev.ratelimit.Algorithm;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * The reply to a {@link ScriptCall}: the time, and the answers to its requests in the
 * order of its runs. {@code frame.lua} has the format.
 */
final class ScriptReply {

	private static final byte NOTHING = 0;

	static final byte ALL = 1;

	private static final byte FOREIGN = 2;

	private static final byte ALL_OF_ITS_WINDOWS = 4;

	private final Algorithm algorithm;

	private final long time;

	private final ByteBuffer answers;

	ScriptReply(Algorithm algorithm, List<Object> reply) {
		this.algorithm = algorithm;
		this.time = (Long) reply.get(0);
		this.answers = ByteBuffer.wrap((byte[]) reply.get(1)).order(ByteOrder.LITTLE_ENDIAN);
	}

	/**
	 * Reads the answer to the next request.
	 */
	ScriptCall.Outcome next(ScriptCall.Entry entry) {
		byte kind = this.answers.get();
		long taken = switch (kind) {
			case NOTHING -> 0;
			case ALL, ALL_OF_ITS_WINDOWS -> entry.permits().most();
			case FOREIGN -> -1;
			default -> (long) this.answers.getDouble();
		};
		if (taken < 0) {
			return ScriptCall.Outcome.FOREIGN;
		}
		boolean expected = kind == ALL_OF_ITS_WINDOWS;
		List<Counter> counters = entry.counters();
		if (counters.size() == 1) {
			return new ScriptCall.Outcome(taken, List.of(reading(counters.get(0), expected)));
		}
		Reading[] readings = new Reading[counters.size()];
		for (int i = 0; i < readings.length; i++) {
			readings[i] = reading(counters.get(i), expected);
		}
		return new ScriptCall.Outcome(taken, List.of(readings));
	}

	private Reading reading(Counter counter, boolean expected) {
		int length = expected ? StateCodec.length(counter.spec().limit().quotas().size())
				: Short.toUnsignedInt(this.answers.getShort());
		return new Reading(counter, StateCodec.decode(this.algorithm, this.answers, length), this.time);
	}

}
