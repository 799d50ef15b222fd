package dev.ratelimit.app.demo;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.security.oauth2.resource.reactive.ReactiveOAuth2ResourceServerAutoConfiguration;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;

import dev.ratelimit.app.RateLimitGatewayApplication;
import dev.ratelimit.config.InvalidPolicyException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class DemoConflictsTests {

	private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ReactiveSecurityAutoConfiguration.class,
				ReactiveOAuth2ResourceServerAutoConfiguration.class))
		.withUserConfiguration(DemoConfiguration.class)
		.withPropertyValues("spring.profiles.active=demo");

	@Test
	void demoAloneStartsAndWarns(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(ReactiveJwtDecoder.class);
			assertThat(output).contains("WARN", "Profile 'demo' is on", "callers on this host");
		});
	}

	@Test
	void remoteIsWarnedAboutLouder(CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.demo.remote=true")
			.run((context) -> assertThat(output).contains("EVERY caller"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jwt.issuer-uri", "jwt.jwk-set-uri", "jwt.public-key-location",
			"opaquetoken.introspection-uri" })
	void realTokensFailTheStart(String property) {
		this.runner.withPropertyValues("spring.security.oauth2.resourceserver." + property + "=https://issuer.example")
			.run((context) -> assertThat(context.getStartupFailure()).isInstanceOf(InvalidPolicyException.class)
				.hasMessageContaining("'spring.security.oauth2.resourceserver." + property + "'"));
	}

	@Test
	void decoderOfTheUserFailsTheStart() {
		this.runner.withBean("theirDecoder", ReactiveJwtDecoder.class, DemoTokens::decoder)
			.run((context) -> assertThat(context.getStartupFailure()).isInstanceOf(InvalidPolicyException.class)
				.hasMessageContaining("'theirDecoder'"));
	}

	@Test
	void withoutTheProfileNothingOfTheDemoIsThere() {
		this.runner.withPropertyValues("spring.profiles.active=").run((context) -> {
			assertThat(context).doesNotHaveBean(ReactiveJwtDecoder.class);
			assertThat(context).doesNotHaveBean(DemoEchoGatewayFilterFactory.class);
		});
	}

	@Test
	void applicationSaysWhatToDo(CapturedOutput output) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(RateLimitGatewayApplication.class);
		assertThatExceptionOfType(InvalidPolicyException.class).isThrownBy(
				() -> application
					.run("--spring.profiles.active=demo", "--server.port=0", "--management.server.port=0",
							"--spring.security.oauth2.resourceserver.jwt.issuer-uri=https://issuer.example")
					.close());
		assertThat(output).contains("APPLICATION FAILED TO START", "Start without profile 'demo'");
	}

}
