package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.EnumText;
import dev.ratelimit.FailureMode;
import dev.ratelimit.fleet.ForcedMode;

/**
 * Reads replies of {@code pulse.lua} and writes the switch: mode, actor and reason on a
 * line each. The mode alone is enough, so that the switch can be set by hand.
 */
final class PulseCodec {

	private PulseCodec() {
	}

	/**
	 * Reads a reply.
	 * @param age nanoseconds since the call was sent. The switch is on for that much less
	 * here, so that it does not outlast the one in Redis
	 */
	static Reply decode(List<Object> reply, long age) {
		int instances = ((Long) reply.get(0)).intValue();
		boolean known = (Long) reply.get(1) == 1;
		ForcedMode forced = (reply.size() > 2) ? decode((byte[]) reply.get(3), left((Long) reply.get(2), age)) : null;
		return new Reply(instances, known, reply.size() > 2, forced);
	}

	/** The record of a switch that was turned off. */
	static byte[] off() {
		return RedisSender.bytes("off");
	}

	static byte[] encode(ForcedMode forced) {
		String mode = EnumText.of(forced.mode());
		return (mode + "\n" + forced.actor() + "\n" + forced.reason()).getBytes(StandardCharsets.UTF_8);
	}

	/** Ignores an unknown mode: a typing error must not lock callers out. */
	private static @Nullable ForcedMode decode(byte[] text, Duration left) {
		String[] lines = new String(text, StandardCharsets.UTF_8).split("\n", 3);
		for (FailureMode mode : FailureMode.values()) {
			if (mode.name().equalsIgnoreCase(lines[0].strip()) && !left.isZero()) {
				return new ForcedMode(mode, left, (lines.length > 1) ? lines[1] : "unknown",
						(lines.length > 2) ? lines[2] : "");
			}
		}
		return null;
	}

	private static Duration left(long millis, long age) {
		Duration left = Duration.ofMillis(millis).minusNanos(age);
		if (left.isNegative()) {
			return Duration.ZERO;
		}
		return (left.compareTo(ForcedMode.LONGEST) > 0) ? ForcedMode.LONGEST : left;
	}

	/**
	 * What a heartbeat learns.
	 *
	 * @param instances number of instances that are alive
	 * @param known whether this instance was among them before
	 * @param recorded whether there is a record of the switch, on or off
	 * @param forced what the switch is set to, {@code null} if it is off
	 */
	record Reply(int instances, boolean known, boolean recorded, @Nullable ForcedMode forced) {
	}

}
