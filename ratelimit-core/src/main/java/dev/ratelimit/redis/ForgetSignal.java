package dev.ratelimit.redis;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import dev.ratelimit.counter.Counter;

/**
 * Announces resets of counters, by their keys, so that all instances drop the leases and
 * refusals of these. An instance that misses a signal may refuse wrongly for up to 5 s.
 */
public final class ForgetSignal implements RedisSignals.Listener {

	public static final String TYPE = "forget";

	private final Consumer<Set<String>> forget;

	private final Runnable forgetRefusals;

	/**
	 * @param forget drops what is known of counters with these keys
	 * @param forgetRefusals drops all refusals that are remembered
	 */
	public ForgetSignal(Consumer<Set<String>> forget, Runnable forgetRefusals) {
		this.forget = forget;
		this.forgetRefusals = forgetRefusals;
	}

	static String text(List<Counter> counters) {
		return counters.stream().map(Counter::key).collect(Collectors.joining(" "));
	}

	@Override
	public void received(List<String> texts) {
		this.forget.accept(texts.stream()
			.flatMap((text) -> Arrays.stream(text.split(" ")))
			.collect(Collectors.toUnmodifiableSet()));
	}

	@Override
	public void missed() {
		this.forgetRefusals.run();
	}

}
