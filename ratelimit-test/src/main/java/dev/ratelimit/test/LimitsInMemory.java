package dev.ratelimit.test;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

import dev.ratelimit.memory.MemoryCounters;

/**
 * Brings the counters and the clock of a {@link RateLimitTest}, before the starter looks
 * for counters.
 */
final class LimitsInMemory implements ContextCustomizerFactory {

	private static final long MAX_COUNTERS = 100_000;

	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> configAttributes) {
		return TestContextAnnotationUtils.hasAnnotation(testClass, RateLimitTest.class) ? new Customizer() : null;
	}

	/** Equal to each other, so that tests share their contexts. */
	private record Customizer() implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("ratelimit-in-memory",
						Map.of("ratelimit.backend", "memory", "ratelimit.policies-store.type", "none")));
			SettableClock clock = SettableClock.atStartOfDay();
			ConfigurableListableBeanFactory beans = context.getBeanFactory();
			beans.registerSingleton("rateLimitTestClock", clock);
			beans.registerSingleton("rateLimitTestCounters",
					new MemoryCounters(MAX_COUNTERS, clock::micros, clock::nanos));
		}

	}

}
