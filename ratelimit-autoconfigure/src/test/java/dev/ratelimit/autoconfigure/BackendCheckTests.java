package dev.ratelimit.autoconfigure;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.javapoet.ClassName;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

class BackendCheckTests {

	private static final String[] POLICY = { "ratelimit.policies.orders.limits.all.by=",
			"ratelimit.policies.orders.limits.all.quota=2/m", "ratelimit.policies-store.type=none" };

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(RateLimitRedisAutoConfiguration.class, RateLimitAutoConfiguration.class))
		.withPropertyValues(POLICY);

	@Test
	void addressThatIsKnownTooLateFailsTheStart() {
		this.context.withBean(Late.class, () -> new Late("spring.data.redis.host", "localhost"))
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("built to count in memory, but its configuration asks for Redis: "
						+ "spring.data.redis.host is set.")
				.hasMessageContaining("Set 'ratelimit.backend' to redis"));
	}

	@Test
	void countersOfTheApplicationAreLeftAlone() {
		this.context.withBean(Late.class, () -> new Late("spring.data.redis.host", "localhost"))
			.withBean(Counters.class, () -> new MemoryCounters(10, MemoryCounters::systemMicros))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	@CompileWithForkedClassLoader
	void applicationThatIsProcessedAheadOfTimeKeepsItsBackend() {
		GenericApplicationContext built = new AnnotationConfigApplicationContext();
		built.registerBean(Application.class);
		TestPropertyValues.of(POLICY).applyTo(built);
		TestGenerationContext generation = new TestGenerationContext();
		ClassName initializer = new ApplicationContextAotGenerator().processAheadOfTime(built, generation);
		generation.writeGeneratedContent();
		TestCompiler.forSystem().with(generation).compile((compiled) -> {
			ApplicationContextInitializer<ConfigurableApplicationContext> start = initializer(
					compiled.getInstance(ApplicationContextInitializer.class, initializer.toString()));
			try (GenericApplicationContext same = start(start)) {
				assertThat(same.getBean(Counters.class)).isInstanceOf(MemoryCounters.class);
			}
			assertThatException().isThrownBy(() -> start(start, "spring.data.redis.host=localhost"))
				.withMessageContaining("built to count in memory");
			assertThatException().isThrownBy(() -> start(start, "ratelimit.backend=redis"))
				.withMessageContaining("ratelimit.backend is redis");
		});
	}

	@SuppressWarnings("unchecked")
	private static ApplicationContextInitializer<ConfigurableApplicationContext> initializer(Object compiled) {
		return (ApplicationContextInitializer<ConfigurableApplicationContext>) compiled;
	}

	private static GenericApplicationContext start(
			ApplicationContextInitializer<ConfigurableApplicationContext> initializer, String... properties) {
		GenericApplicationContext context = new GenericApplicationContext();
		TestPropertyValues.of(POLICY).and(properties).applyTo(context);
		initializer.initialize(context);
		context.refresh();
		return context;
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RateLimitRedisAutoConfiguration.class, RateLimitAutoConfiguration.class })
	static class Application {

	}

	/**
	 * Sets a property after the conditions, as a registrar of dynamic properties does.
	 */
	record Late(String name, String value) implements BeanFactoryPostProcessor {

		@Override
		public void postProcessBeanFactory(
				org.springframework.beans.factory.config.ConfigurableListableBeanFactory beans) {
			beans.getBean(ConfigurableEnvironment.class)
				.getPropertySources()
				.addFirst(new MapPropertySource("late", Map.of(this.name, this.value)));
		}

	}

}
