package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Settlement;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Corrected;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

/**
 * A script call that corrects counters, at most once: see {@code settle.lua}.
 */
final class SettleCall extends ScriptCall {

	/** Time of an entry that charges. */
	private static final long CHARGE = -1;

	private static final byte DONE_BEFORE = 5;

	private static final byte TOO_LATE = 6;

	private final Correction correction;

	private final long last;

	private @Nullable Corrected corrected;

	/**
	 * Creates a call.
	 * @param last time of Redis after which it must not act
	 */
	SettleCall(Correction correction, long last) {
		super(entries(correction));
		this.correction = correction;
		this.last = last;
	}

	private static List<Entry> entries(Correction correction) {
		List<Entry> entries = new ArrayList<>();
		for (Reading reading : correction.grant().readings()) {
			List<Counter> counter = List.of(reading.counter());
			if (correction.surplus() > 0) {
				entries.add(new Entry(counter, Permits.exactly(correction.surplus()), CHARGE));
			}
			for (Reading.Taken taken : reading.taken(correction.grant().permits(), correction.refund())) {
				entries.add(new Entry(counter, Permits.exactly(taken.permits()), taken.time()));
			}
		}
		if (entries.isEmpty()) {
			// Only the marker: the estimate was right.
			entries.add(new Entry(List.of(correction.grant().readings().get(0).counter()), Permits.NONE, 0));
		}
		return entries;
	}

	@Override
	LuaScript script() {
		return LuaScript.settling(algorithm());
	}

	@Override
	byte[][] keys() {
		AttemptReading cancelled = cancelled();
		byte[][] keys = (cancelled == null) ? super.keys()
				: AttemptCall.with(super.keys(), cancelled.record().getBytes(StandardCharsets.ISO_8859_1));
		return AttemptCall.with(keys, this.correction.marker().getBytes(StandardCharsets.ISO_8859_1));
	}

	@Override
	byte[][] arguments(byte[] time) {
		AttemptReading cancelled = cancelled();
		ByteBuffer times = ByteBuffer.allocate(((cancelled != null) ? 3 : 2) * Double.BYTES)
			.order(ByteOrder.LITTLE_ENDIAN)
			.putDouble(this.last)
			.putDouble(this.correction.until());
		if (cancelled != null) {
			times.putDouble(cancelled.granted());
		}
		return AttemptCall.with(super.arguments(time), times.array());
	}

	/** The recorded grant of which nothing remains charged, {@code null} if none. */
	private @Nullable AttemptReading cancelled() {
		return this.correction.cancels() ? AttemptReading.of(this.correction.grant().readings().get(0)) : null;
	}

	@Override
	List<Outcome> decode(List<Object> reply) {
		long time = (Long) reply.get(0);
		byte[] answer = (byte[]) reply.get(1);
		// One byte is also the reply for a single counter with a foreign
		// value.
		if (answer.length == 1 && (answer[0] == DONE_BEFORE || answer[0] == TOO_LATE)) {
			this.corrected = new Corrected((answer[0] == DONE_BEFORE) ? Settlement.NOTHING : null, time);
			return List.of();
		}
		List<Outcome> outcomes = super.decode(reply);
		Map<Counter, Long> byCounter = new HashMap<>();
		for (int i = 0; i < outcomes.size(); i++) {
			Counter counter = entries().get(i).counters().get(0);
			if (outcomes.get(i).taken() < 0) {
				throw UnansweredException.corrupt(counter.spec());
			}
			byCounter.merge(counter, outcomes.get(i).taken(), Long::sum);
		}
		long least = byCounter.values().stream().mapToLong(Long::longValue).min().orElse(0);
		this.corrected = new Corrected(this.correction.outcome(least), time);
		return outcomes;
	}

	/**
	 * The answer, after the reply was decoded.
	 */
	Corrected corrected() {
		return Objects.requireNonNull(this.corrected);
	}

}
