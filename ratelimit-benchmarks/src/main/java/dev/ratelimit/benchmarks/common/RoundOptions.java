package dev.ratelimit.benchmarks.common;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options of commands that warm each case up once and then measure it in rounds. How
 * long that takes by default is for the command to say.
 */
public final class RoundOptions {

	@Option(names = "--rounds", defaultValue = "3", paramLabel = "N",
			description = "How often each case is measured (default: ${DEFAULT-VALUE}).")
	private int rounds;

	@Option(names = "--warm-up", paramLabel = "DURATION", description = "Time for the compiler, once per case.")
	private @Nullable Duration warmUp;

	@Option(names = "--measure", paramLabel = "DURATION", description = "Time of each measurement.")
	private @Nullable Duration measure;

	@Option(names = "--deadline", defaultValue = "PT0.02S", paramLabel = "DURATION",
			description = "Of a check of ours (default: ${DEFAULT-VALUE}, as in an application); "
					+ "on a machine that is busy otherwise it needs more, or the breaker opens.")
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	public int rounds() {
		return this.rounds;
	}

	public Duration warmUp(long usualSeconds) {
		return (this.warmUp != null) ? this.warmUp : Duration.ofSeconds(usualSeconds);
	}

	public Duration measure(long usualSeconds) {
		return (this.measure != null) ? this.measure : Duration.ofSeconds(usualSeconds);
	}

	public Duration deadline() {
		return this.deadline;
	}

}
