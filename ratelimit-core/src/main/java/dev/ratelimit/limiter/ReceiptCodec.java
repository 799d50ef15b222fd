package dev.ratelimit.limiter;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Receipts as bytes: what was charged, in the words of the store. They hold the keys of
 * counters and how each counts, so another instance can settle although it has never seen
 * the caller and the policy has changed since.
 */
final class ReceiptCodec {

	private static final byte VERSION = 1;

	/** A receipt whose grant is recorded: attempts of one request settle once. */
	private static final byte RECORDED = 2;

	/** Far above what 16 limits need. */
	private static final int MOST_COUNTERS = 255;

	private ReceiptCodec() {
	}

	static byte[] encode(String policy, String id, long until, Grant grant) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			boolean recorded = AttemptReading.settledUntil(grant) > 0;
			out.writeByte(recorded ? RECORDED : VERSION);
			out.writeUTF(policy);
			out.writeUTF(id);
			out.writeLong(until);
			out.writeLong(grant.permits());
			out.writeByte(grant.readings().size());
			for (Reading reading : grant.readings()) {
				Counter counter = reading.granting().counter();
				out.writeUTF(counter.key());
				out.writeByte(counter.spec().algorithm().ordinal());
				counter.spec().write(out);
				List<Reading.Taken> taken = reading.taken(grant.permits(), grant.permits());
				out.writeByte(taken.size());
				for (Reading.Taken part : taken) {
					out.writeLong(part.time());
					out.writeLong(part.permits());
				}
				if (recorded) {
					write(AttemptReading.of(reading), out);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("a receipt cannot be encoded", ex);
		}
		return bytes.toByteArray();
	}

	/**
	 * Reads a receipt.
	 * @throws IllegalArgumentException if the bytes are no receipt of this release
	 */
	static Decoded decode(byte[] receipt, long actual) {
		try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(receipt))) {
			byte version = in.readByte();
			if (version != VERSION && version != RECORDED) {
				throw new IllegalArgumentException("the receipt was made by another release");
			}
			String policy = in.readUTF();
			String id = in.readUTF();
			long until = in.readLong();
			long permits = in.readLong();
			List<Reading> readings = new ArrayList<>();
			int counters = Math.min(MOST_COUNTERS, in.readUnsignedByte());
			for (int i = 0; i < counters; i++) {
				Reading reading = reading(in);
				readings.add((version == RECORDED) ? recorded(reading, in) : reading);
			}
			Grant grant = new Grant(Permits.exactly(permits), permits, readings, Decision.Source.REDIS);
			return new Decoded(policy, new Correction(id, grant, actual - permits, System.nanoTime(), until));
		}
		catch (IOException ex) {
			throw new IllegalArgumentException("the bytes are not a receipt", ex);
		}
	}

	private static Reading reading(DataInputStream in) throws IOException {
		String key = in.readUTF();
		int ordinal = in.readUnsignedByte();
		if (ordinal >= Algorithm.values().length) {
			throw new IOException("unknown algorithm");
		}
		Algorithm algorithm = Algorithm.values()[ordinal];
		Counter counter = new Counter(CounterSpec.read(algorithm, in), key);
		List<Reading.Taken> earlier = new ArrayList<>();
		int times = in.readUnsignedByte();
		for (int i = 0; i < times; i++) {
			earlier.add(new Reading.Taken(in.readLong(), in.readLong()));
		}
		long time = earlier.isEmpty() ? 0 : earlier.get(0).time();
		return new Reading(counter, new long[0], time, 0, earlier);
	}

	private static void write(@Nullable AttemptReading recorded, DataOutputStream out) throws IOException {
		out.writeUTF((recorded != null) ? recorded.attempt().id() : "");
		out.writeUTF((recorded != null) ? recorded.record() : "");
		out.writeLong((recorded != null) ? recorded.granted() : 0);
	}

	private static Reading recorded(Reading reading, DataInputStream in) throws IOException {
		Attempt attempt = new Attempt(in.readUTF(), 0, 0);
		String record = in.readUTF();
		Reading.Taken taken = new Reading.Taken(in.readLong(), 0);
		return record.isEmpty() ? reading
				: AttemptReading.replay(reading, attempt, record, taken).with(reading.earlier());
	}

	/**
	 * A receipt that another instance may have made.
	 */
	record Decoded(String policy, Correction correction) {
	}

}
