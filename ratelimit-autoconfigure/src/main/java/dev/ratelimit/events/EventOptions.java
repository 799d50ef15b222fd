package dev.ratelimit.events;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Where events go and how many may wait.
 *
 * @param bufferSize how many may wait or be unconfirmed
 * @param flushTimeout how long the end of the application may wait for them
 */
public record EventOptions(String topic, int bufferSize, Duration flushTimeout) {

	private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

	public EventOptions {
		if (!TOPIC.matcher(topic).matches() || topic.equals(".") || topic.equals("..")) {
			throw new IllegalArgumentException("topic '" + topic
					+ "': a name is 1 to 249 letters, digits, dots, dashes and underscores, and not just dots");
		}
		if (bufferSize < 1) {
			throw new IllegalArgumentException("buffer size must be at least 1 but was " + bufferSize);
		}
		if (flushTimeout.isNegative()) {
			throw new IllegalArgumentException("flush timeout must not be negative but was " + flushTimeout);
		}
	}

}
