package dev.ratelimit.counter;

/**
 * A counter's key holds something that is not a counter. Without a stack trace and
 * without the key: the one costs too much, the other may be personal data.
 */
public final class CorruptCounterException extends RuntimeException {

	public CorruptCounterException(CounterSpec spec) {
		super("the counter of limit '" + spec.limit().name() + "' holds a value that is not a "
				+ spec.algorithm().text() + " counter", null, false, false);
	}

}
