package dev.ratelimit.events;

import java.time.Duration;
import java.util.regex.Pattern;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Usage events, one for each decision, sent to Kafka.
 *
 * @param enabled Whether they are sent, with the settings of spring.kafka.
 * @param topic Topic that they are sent to.
 * @param bufferSize Most events that wait or are not confirmed yet, at least 1; further
 * events are dropped and counted.
 * @param flushTimeout Longest wait for the delivery of events when the application ends.
 */
public record EventOptions(@DefaultValue("false") boolean enabled, @DefaultValue("ratelimit-usage") String topic,
		@DefaultValue("50000") int bufferSize, @DefaultValue("5s") Duration flushTimeout) {

	private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

	/**
	 * Checks the options of an application that sends events.
	 * @throws IllegalArgumentException naming the option and its range
	 */
	EventOptions valid() {
		if (!TOPIC.matcher(this.topic).matches() || this.topic.equals(".") || this.topic.equals("..")) {
			throw new IllegalArgumentException("topic '" + this.topic
					+ "': a name is 1 to 249 letters, digits, dots, dashes and underscores, and not just dots");
		}
		if (this.bufferSize < 1) {
			throw new IllegalArgumentException("buffer size must be at least 1 but was " + this.bufferSize);
		}
		if (this.flushTimeout.isNegative()) {
			throw new IllegalArgumentException("flush timeout must not be negative but was " + this.flushTimeout);
		}
		return this;
	}

}
