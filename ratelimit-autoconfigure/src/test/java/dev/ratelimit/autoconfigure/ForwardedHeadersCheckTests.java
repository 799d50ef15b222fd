package dev.ratelimit.autoconfigure;

import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.web.filter.CharacterEncodingFilter;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;

import dev.ratelimit.config.StartupFailures;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that takes the remote address from a header stops the start, whoever makes it
 * do so.
 */
class ForwardedHeadersCheckTests {

	private static final AutoConfigurations LIMITER = AutoConfigurations.of(RateLimitAutoConfiguration.class);

	private static final WebApplicationContextRunner SERVLET = new WebApplicationContextRunner()
		.withConfiguration(LIMITER);

	private static final ReactiveWebApplicationContextRunner REACTIVE = new ReactiveWebApplicationContextRunner()
		.withConfiguration(LIMITER);

	private static final ApplicationContextRunner WORKER = new ApplicationContextRunner().withConfiguration(LIMITER);

	private static Stream<AbstractApplicationContextRunner<?, ?, ?>> servers() {
		return Stream.of(SERVLET, REACTIVE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "server.forward-headers-strategy=framework", "server.forward-headers-strategy=native",
			"spring.main.cloud-platform=kubernetes", "server.tomcat.remoteip.remote-ip-header=X-Forwarded-For",
			"server.tomcat.remoteip.protocol-header=X-Forwarded-Proto",
			"server.tomcat.remoteip.remoteIpHeader=X-Real-IP" })
	void settingThatRewritesTheAddressStopsAServerAndNotAWorker(String property) {
		servers().forEach((server) -> {
			FailureAnalysis analysis = analyze(server, property);
			assertThat(analysis.getDescription()).contains("takes the remote address from forwarded headers");
			assertThat(analysis.getAction()).contains("ratelimit.identity.trusted-hops")
				.contains("ratelimit.identity.trust-forwarded");
		});
		started(WORKER, property);
	}

	@Test
	void platformIsFoundByItsEnvironment() {
		SERVLET
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.replace("systemEnvironment",
						new SystemEnvironmentPropertySource("systemEnvironment",
								Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1", "KUBERNETES_SERVICE_PORT", "443"))))
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.hasStackTraceContaining("runs on KUBERNETES"));
	}

	@ParameterizedTest
	@ValueSource(classes = { Filter.class, RegisteredFilter.class, FilterOfAnyType.class, Transformer.class })
	void beanThatRewritesTheAddressStopsAServerAndNotAWorker(Class<?> configuration) {
		servers().forEach((server) -> {
			FailureAnalysis analysis = analyze(server.withUserConfiguration(configuration));
			assertThat(analysis.getDescription()).containsPattern("bean 'forwarded' (is|registers) a ForwardedHeader");
			assertThat(analysis.getAction()).startsWith("Remove bean 'forwarded'");
			started(server.withUserConfiguration(configuration), "ratelimit.identity.trust-forwarded=true");
		});
		started(WORKER.withUserConfiguration(configuration));
	}

	@Test
	void otherFiltersAndSettingsAreLeftAlone() {
		started(SERVLET.withUserConfiguration(OtherFilter.class), "server.forward-headers-strategy=none",
				"spring.main.cloud-platform=kubernetes", "server.tomcat.remoteip.port-header=X-Forwarded-Port");
	}

	@Test
	void rewrittenAddressCanBeTrusted() {
		servers().forEach((server) -> started(server, "server.forward-headers-strategy=framework",
				"ratelimit.identity.trust-forwarded=true"));
	}

	private static FailureAnalysis analyze(AbstractApplicationContextRunner<?, ?, ?> server, String... properties) {
		FailureAnalysis[] analysis = new FailureAnalysis[1];
		server.withPropertyValues(properties).run((context) -> {
			Throwable failure = context.getStartupFailure();
			assertThat(failure).isNotNull();
			analysis[0] = StartupFailures.analyze(failure);
		});
		assertThat(analysis[0]).isNotNull();
		return analysis[0];
	}

	private static void started(AbstractApplicationContextRunner<?, ?, ?> runner, String... properties) {
		runner.withPropertyValues(properties)
			.run((context) -> assertThat(
					((ConfigurableApplicationContext) context.getSourceApplicationContext()).isActive())
				.isTrue());
	}

	@Configuration(proxyBeanMethods = false)
	static class Filter {

		@Bean
		ForwardedHeaderFilter forwarded() {
			return new ForwardedHeaderFilter();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RegisteredFilter {

		@Bean
		FilterRegistrationBean<ForwardedHeaderFilter> forwarded() {
			return new FilterRegistrationBean<>(new ForwardedHeaderFilter());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FilterOfAnyType {

		@Bean
		FilterRegistrationBean<jakarta.servlet.Filter> forwarded() {
			return new FilterRegistrationBean<>(new ForwardedHeaderFilter());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherFilter {

		@Bean
		FilterRegistrationBean<CharacterEncodingFilter> encoding() {
			return new FilterRegistrationBean<>(new CharacterEncodingFilter());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Transformer {

		@Bean
		ForwardedHeaderTransformer forwarded() {
			return new ForwardedHeaderTransformer();
		}

	}

}
