package dev.ratelimit.redis;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import dev.ratelimit.counter.Counter;

/**
 * Tells all instances that counters were reset, by their keys, so that each drops what it
 * knows of them. Who missed one has refusals that may be wrong, for 5 s at most, and
 * leases, which were paid for and soon expire.
 */
public final class ForgetSignal implements RedisSignals.Listener {

	/** What such signals are called. */
	public static final String TYPE = "forget";

	private final Consumer<Set<String>> forget;

	private final Runnable forgetRefusals;

	/**
	 * Creates a listener.
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
