package dev.ratelimit.test;

import java.util.List;
import java.util.Map;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * Tests with Spring's test framework have no snapshot file, unless they set one: it would
 * stay in the home directory, and the next test would find the policies of another store.
 */
final class WithoutSnapshotFile implements ContextCustomizerFactory {

	@Override
	public ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> configAttributes) {
		return new Customizer();
	}

	/** Equal to each other, so that tests share their contexts. */
	private record Customizer() implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
			context.getEnvironment()
				.getPropertySources()
				.addLast(new MapPropertySource("ratelimit-test",
						Map.of("ratelimit.policies-store.snapshot-file", "none")));
		}

	}

}
