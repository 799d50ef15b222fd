package dev.ratelimit.autoconfigure;

import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotationMetadata;

import dev.ratelimit.ClassPathWithout;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A worker: an application without spring-web, which asks the limiter from code.
 */
@ExtendWith(OutputCaptureExtension.class)
class WithoutWebTests {

	private static final ClassPathWithout WEB = ClassPathWithout.jars("spring-web", "spring-boot-starter-web",
			"spring-cloud-gateway", "spring-cloud-starter-gateway", "tomcat-embed", "reactor-netty");

	@Test
	void limitsFromCode() throws Exception {
		assertThat(WEB.has("org.springframework.web.util.pattern.PatternParseException")).isFalse();
		assertThat(WEB.call(Worker.class)).isEqualTo("true true false");
	}

	@Test
	void policyWithCostsStartsAndSaysThatTheyHaveNoEffect(CapturedOutput output) throws Exception {
		assertThat(WEB.call(WorkerWithCosts.class)).isEqualTo("true true false");
		assertThat(output).contains("Policy 'orders' has costs for paths, which have no effect in this application");
	}

	@Test
	void costsThatNoApplicationCouldHaveStillFailTheStart() throws Exception {
		assertThat((String) WEB.call(WorkerWithBadCosts.class)).contains("a path pattern starts with a slash");
	}

	@Test
	void healthIsThere() throws Exception {
		assertThat((String) WEB.call(WorkerHealth.class)).startsWith("UP {backend=memory");
	}

	public static class Worker implements Callable<String> {

		private final ApplicationContextRunner context;

		public Worker() {
			this(new String[0]);
		}

		Worker(String... properties) {
			this.context = new ApplicationContextRunner().withUserConfiguration(AllOfOurs.class)
				.withBean(SimpleMeterRegistry.class)
				.withPropertyValues("management.endpoints.web.exposure.include=*", "ratelimit.backend=memory",
						"ratelimit.policies.orders.limits.per-user.by=user",
						"ratelimit.policies.orders.limits.per-user.quota=2/h")
				.withPropertyValues(properties);
		}

		@Override
		public final String call() {
			AtomicReference<String> result = new AtomicReference<>();
			this.context.run((context) -> result.set((context.getStartupFailure() != null)
					? context.getStartupFailure().toString() : result(context.getSourceApplicationContext())));
			return result.get();
		}

		String result(ApplicationContext context) {
			RateLimiter limiter = context.getBean(RateLimiter.class);
			return check(limiter) + " " + check(limiter) + " " + check(limiter);
		}

		private static boolean check(RateLimiter limiter) {
			return limiter.check(Request.of("orders").with(Dimension.USER, "ann"))
				.toCompletableFuture()
				.join()
				.allowed();
		}

	}

	/**
	 * By name, as Boot does it: a class that is loaded has lost the conditions that name
	 * missing types.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(AllOfOurs.Selector.class)
	static class AllOfOurs {

		static class Selector implements DeferredImportSelector {

			@Override
			public String[] selectImports(AnnotationMetadata metadata) {
				return ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())
					.getCandidates()
					.stream()
					.filter((name) -> name.startsWith("dev.ratelimit."))
					// The core's wiring first, as Boot's own sorter has it.
					.sorted(Comparator.comparing((name) -> !name.startsWith("dev.ratelimit.autoconfigure.")))
					.toArray(String[]::new);
			}

		}

	}

	public static class WorkerWithCosts extends Worker {

		public WorkerWithCosts() {
			super("ratelimit.policies.orders.costs.[/orders/export/**]=2");
		}

	}

	public static class WorkerWithBadCosts extends Worker {

		public WorkerWithBadCosts() {
			super("ratelimit.policies.orders.costs.[orders]=2");
		}

	}

	public static class WorkerHealth extends Worker {

		@Override
		String result(ApplicationContext context) {
			return context.getBean(HealthIndicator.class).health().toString();
		}

	}

}
