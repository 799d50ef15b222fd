package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Reading;

/**
 * A script call that decides one request which may be sent again: see
 * {@code attempt.lua}.
 */
final class AttemptCall extends ScriptCall {

	private static final byte REPLAY = 7;

	private static final int REPLAY_LENGTH = 1 + Double.BYTES + Integer.BYTES;

	private final Attempt attempt;

	private final String record;

	AttemptCall(Entry entry, Attempt attempt) {
		super(List.of(entry));
		this.attempt = attempt;
		this.record = attempt.record(entry.counters().get(0));
	}

	@Override
	LuaScript script() {
		return LuaScript.attempt(algorithm());
	}

	@Override
	byte[][] keys() {
		return with(super.keys(), this.record.getBytes(StandardCharsets.ISO_8859_1));
	}

	@Override
	byte[][] arguments(byte[] time) {
		return with(super.arguments(time),
				ByteBuffer.allocate(3 * Double.BYTES)
					.order(ByteOrder.LITTLE_ENDIAN)
					.putDouble(this.attempt.ttlMicros() / 1_000)
					.putDouble(this.attempt.mostHolders())
					.putDouble(entries().get(0).permits().most())
					.array());
	}

	/** Appends a key or an argument. */
	static byte[][] with(byte[][] some, byte[] last) {
		byte[][] all = Arrays.copyOf(some, some.length + 1);
		all[some.length] = last;
		return all;
	}

	@Override
	List<Outcome> decode(List<Object> reply) {
		byte[] answer = (byte[]) reply.get(1);
		if (answer[0] != REPLAY) {
			return recorded(super.decode(reply).get(0),
					(reading) -> AttemptReading.first(reading, this.attempt, this.record));
		}
		ByteBuffer earlier = ByteBuffer.wrap(answer, 1, REPLAY_LENGTH - 1).order(ByteOrder.LITTLE_ENDIAN);
		Reading.Taken taken = new Reading.Taken((long) earlier.getDouble(), Integer.toUnsignedLong(earlier.getInt()));
		byte[] states = Arrays.copyOfRange(answer, REPLAY_LENGTH - 1, answer.length);
		states[0] = ScriptReply.ALL;
		return recorded(super.decode(List.of(reply.get(0), states)).get(0),
				(reading) -> AttemptReading.replay(reading, this.attempt, this.record, taken));
	}

	private static List<Outcome> recorded(Outcome outcome, Function<Reading, Reading> recorded) {
		return List.of((outcome.taken() <= 0) ? outcome
				: new Outcome(outcome.taken(), outcome.readings().stream().map(recorded).toList()));
	}

}
