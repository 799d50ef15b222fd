package dev.ratelimit.test;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

class WithoutSnapshotFileTests {

	private static final String PROPERTY = "ratelimit.policies-store.snapshot-file";

	/** As Spring's test framework finds it. */
	private final ContextCustomizerFactory factory = SpringFactoriesLoader.forDefaultResourceLocation()
		.load(ContextCustomizerFactory.class)
		.stream()
		.filter((factory) -> factory instanceof WithoutSnapshotFile)
		.findFirst()
		.orElseThrow();

	private final MockEnvironment environment = new MockEnvironment();

	@Test
	void contextsOfTestsHaveNoSnapshotFile() {
		customize();
		assertThat(this.environment.getProperty(PROPERTY)).isEqualTo("none");
	}

	@Test
	void snapshotFileOfATestIsKept() {
		this.environment.setProperty(PROPERTY, "auto");
		customize();
		assertThat(this.environment.getProperty(PROPERTY)).isEqualTo("auto");
	}

	@Test
	void testsShareTheirContexts() {
		assertThat(customizer(getClass())).isEqualTo(customizer(TestRateLimiterTests.class))
			.hasSameHashCodeAs(customizer(TestRateLimiterTests.class));
	}

	private void customize() {
		GenericApplicationContext context = new GenericApplicationContext();
		context.setEnvironment(this.environment);
		customizer(getClass()).customizeContext(context,
				new MergedContextConfiguration(getClass(), null, null, null, null));
	}

	private ContextCustomizer customizer(Class<?> test) {
		ContextCustomizer customizer = this.factory.createContextCustomizer(test, List.of());
		assertThat(customizer).isNotNull();
		return customizer;
	}

}
