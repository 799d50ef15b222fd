package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.FailureMode;
import dev.ratelimit.ForcedMode;

/**
 * What {@code pulse.lua} replies, and how the switch is written: mode, actor and reason
 * on a line each. The mode alone is enough, so that it can be set by hand.
 *
 * @param instances how many are alive
 * @param known whether this one was among them before
 * @param forced what the switch is set to
 */
record PulseReply(int instances, boolean known, @Nullable ForcedMode forced) {

	/**
	 * Reads a reply.
	 * @param age nanoseconds since the call was sent, which a switch is shorter for: it
	 * is not to be on here for longer than in Redis
	 */
	static PulseReply decode(List<Object> reply, long age) {
		int instances = ((Long) reply.get(0)).intValue();
		boolean known = (Long) reply.get(1) == 1;
		ForcedMode forced = (reply.size() > 2) ? decode((byte[]) reply.get(3), left((Long) reply.get(2), age)) : null;
		return new PulseReply(instances, known, forced);
	}

	static byte[] encode(ForcedMode forced) {
		String mode = forced.mode().name().toLowerCase(Locale.ROOT);
		return (mode + "\n" + forced.actor() + "\n" + forced.reason()).getBytes(StandardCharsets.UTF_8);
	}

	/** What names no mode is no switch: nobody may be locked out by a typing error. */
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

}
