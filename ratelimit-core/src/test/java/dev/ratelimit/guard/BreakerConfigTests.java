package dev.ratelimit.guard;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The build runs these with each Resilience4j that an application may bring.
 */
class BreakerConfigTests {

	private final CircuitBreakerRegistry registry = CircuitBreakerRegistry.ofDefaults();

	@Test
	void runsWithTheVersionThatTheBuildNames() {
		String version = System.getProperty("ratelimit.resilience4j", "");
		assertThat(CircuitBreakerConfig.class.getProtectionDomain().getCodeSource().getLocation().getPath())
			.contains("resilience4j-circuitbreaker-" + version);
	}

	@Test
	void countsOverTheWindowAndFromTheNumberOfCallsThatAreConfigured() {
		CircuitBreakerConfig config = config(new BreakerOptions(7, Duration.ofSeconds(12), 34, Duration.ofSeconds(5)));
		assertThat(config.getSlidingWindowType()).isEqualTo(CircuitBreakerConfig.SlidingWindowType.TIME_BASED);
		assertThat(config.getSlidingWindowSize()).isEqualTo(12);
		assertThat(config.getMinimumNumberOfCalls()).isEqualTo(34);
		assertThat(config.getFailureRateThreshold()).isEqualTo(7);
	}

	@Test
	void countsWithoutLocksWhereResilience4jCan() throws ReflectiveOperationException {
		Method strategy = strategy();
		CircuitBreakerConfig config = config(BreakerOptions.DEFAULTS);
		if (strategy != null) {
			assertThat(strategy.invoke(config)).hasToString("LOCK_FREE");
		}
	}

	private CircuitBreakerConfig config(BreakerOptions options) {
		new Nodes(options, this.registry, List.of()).get("a");
		return this.registry.circuitBreaker("ratelimit-a").getCircuitBreakerConfig();
	}

	/** Resilience4j 2.2 has no such thing. */
	private static @Nullable Method strategy() {
		return Arrays.stream(CircuitBreakerConfig.class.getMethods())
			.filter((method) -> method.getName().equals("getSlidingWindowSynchronizationStrategy"))
			.findAny()
			.orElse(null);
	}

}
