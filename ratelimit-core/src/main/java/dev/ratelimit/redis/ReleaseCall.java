package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.Work;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * A script call in which an attempt gives back its grant, or a part of it: see
 * {@code release.lua}. The counters of one record are in one call, so that permits come
 * back together with the end of the record. A give-back to a log fills a call, so of
 * several logs only the first is in the call. The others follow if the call was allowed
 * to act.
 */
final class ReleaseCall extends ScriptCall {

	private final AttemptReading attempt;

	private final List<Entry> others;

	/** Permits that leave the record, 0 if the attempt gives back all. */
	private final long part;

	private ReleaseCall(List<Entry> entries, List<Entry> others, AttemptReading attempt, long part) {
		super(entries);
		this.others = others;
		this.attempt = attempt;
		this.part = part;
	}

	/**
	 * A call for each record of a grant.
	 * @param readings those of the grant that are recorded
	 * @param permits how many the attempt gives back
	 */
	static List<ReleaseCall> of(Grant grant, List<AttemptReading> readings, long permits) {
		Map<String, List<AttemptReading>> records = new LinkedHashMap<>();
		readings
			.forEach((reading) -> records.computeIfAbsent(reading.record(), (key) -> new ArrayList<>(2)).add(reading));
		List<ReleaseCall> calls = new ArrayList<>(records.size());
		records.values().forEach((same) -> {
			List<Entry> entries = new ArrayList<>();
			for (AttemptReading reading : same) {
				List<Counter> counter = List.of(reading.counter());
				for (Reading.Taken taken : reading.taken(grant.permits(), permits)) {
					entries.add(new Entry(counter, Permits.exactly(taken.permits()), taken.time()));
				}
			}
			if (!entries.isEmpty()) {
				AttemptReading attempt = same.get(0);
				int together = Work.isGivenBackAlone(attempt.counter().spec().algorithm()) ? 1 : entries.size();
				calls.add(new ReleaseCall(entries.subList(0, together), entries.subList(together, entries.size()),
						attempt, attempt.part(grant.permits(), permits)));
			}
		});
		return calls;
	}

	/**
	 * What is left to give back after the answer to this call; nothing if other attempts
	 * hold the record too.
	 */
	List<PendingAcquire> others(List<Outcome> outcomes) {
		return outcomes.isEmpty() ? List.of()
				: this.others.stream()
					.map((entry) -> new PendingAcquire(entry.counters(), entry.permits(), entry.since(),
							ClientSettings.COMMAND_TIMEOUT))
					.toList();
	}

	@Override
	LuaScript script() {
		return LuaScript.releasing(algorithm());
	}

	@Override
	byte[][] keys() {
		return AttemptCall.with(super.keys(), this.attempt.record().getBytes(StandardCharsets.ISO_8859_1));
	}

	@Override
	byte[][] arguments(byte[] time) {
		return AttemptCall.with(super.arguments(time),
				ByteBuffer.allocate(2 * Double.BYTES)
					.order(ByteOrder.LITTLE_ENDIAN)
					.putDouble(this.attempt.granted())
					.putDouble(this.part)
					.array());
	}

	@Override
	List<Outcome> decode(List<Object> reply) {
		return (((byte[]) reply.get(1)).length == 0) ? List.of() : super.decode(reply);
	}

}
