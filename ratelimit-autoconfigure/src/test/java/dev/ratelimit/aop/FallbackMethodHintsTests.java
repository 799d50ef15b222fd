package dev.ratelimit.aop;

import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.aot.BeanRegistrationCode;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.beans.factory.support.RootBeanDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class FallbackMethodHintsTests {

	private final BeanRegistrationAotProcessor processor = AotServices.factories()
		.load(BeanRegistrationAotProcessor.class)
		.stream()
		.filter((processor) -> processor.getClass().getName().startsWith("dev.ratelimit."))
		.findFirst()
		.orElseThrow();

	@Test
	void privateFallbackCanBeCalled() throws Exception {
		TestGenerationContext generation = new TestGenerationContext();
		Objects.requireNonNull(process(Reports.class)).applyTo(generation, mock(BeanRegistrationCode.class));
		RuntimeHints hints = generation.getRuntimeHints();
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethod(Reports.class.getDeclaredMethod("busy", RateLimitExceededException.class))
			.invoke()).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethod(Reports.class.getDeclaredMethod("other")).invoke())
			.rejects(hints);
	}

	@Test
	void beanWithoutAFallbackContributesNothing() throws Exception {
		assertThat(process(Plain.class)).isNull();
		assertThat(process(String.class)).isNull();
	}

	private BeanRegistrationAotContribution process(Class<?> type) throws Exception {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerBeanDefinition("bean", new RootBeanDefinition(type));
		return this.processor.processAheadOfTime(RegisteredBean.of(beans, "bean"));
	}

	static class Plain {

		@RateLimited("reports")
		public String report() {
			return "report";
		}

	}

	static class Reports {

		@RateLimited(policy = "reports", fallbackMethod = "busy")
		public String report() {
			return "report";
		}

		public void other() {
		}

		private String busy(RateLimitExceededException refusal) {
			return "busy";
		}

	}

}
