package dev.ratelimit.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Properties;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications exclude auto-configurations by name. The names of before they moved still
 * work.
 */
class MovedAutoConfigurationsTests {

	private static final String FILE = "/META-INF/spring/" + AutoConfiguration.class.getName() + ".replacements";

	/** Needs a database. */
	private static final String R2DBC = "org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration";

	static Set<String> oldNames() throws IOException {
		return replacements().stringPropertyNames();
	}

	@ParameterizedTest
	@MethodSource("oldNames")
	void oldNameStandsForAnAutoConfiguration(String old) throws IOException {
		List<String> current = ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())
			.getCandidates();
		assertThat(current).contains(replacements().getProperty(old)).doesNotContain(old);
	}

	@Test
	void excludingTheOldNameExcludesTheNewOne() throws ClassNotFoundException {
		String name = "RateLimitMetricsAutoConfiguration";
		Class<?> current = Class.forName("dev.ratelimit.metrics." + name);
		try (ConfigurableApplicationContext all = start("")) {
			assertThat(all.getBeanNamesForType(current)).isNotEmpty();
		}
		try (ConfigurableApplicationContext without = start(",dev.ratelimit.autoconfigure." + name)) {
			assertThat(without.getBeanNamesForType(current)).isEmpty();
		}
	}

	private static ConfigurableApplicationContext start(String exclude) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("ratelimit.backend=memory", "spring.main.banner-mode=off",
					"spring.cloud.gateway.server.webflux.enabled=false", "spring.cloud.gateway.redis.enabled=false",
					"spring.cloud.gateway.server.webflux.redis.enabled=false",
					"spring.autoconfigure.exclude=" + R2DBC + exclude)
			.run();
	}

	private static Properties replacements() throws IOException {
		try (InputStream file = MovedAutoConfigurationsTests.class.getResourceAsStream(FILE)) {
			Properties replacements = new Properties();
			replacements.load(file);
			return replacements;
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
