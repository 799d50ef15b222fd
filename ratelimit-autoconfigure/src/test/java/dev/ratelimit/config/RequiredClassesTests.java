package dev.ratelimit.config;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store or a resolver that is asked for and whose library is missing.
 */
class RequiredClassesTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
					RateLimitControlAutoConfiguration.class, RateLimitStoreAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource({ "ratelimit.backend=redis, org.springframework.data.redis, spring-boot-starter-data-redis",
			"ratelimit.backend=redis, io.lettuce, spring-boot-starter-data-redis",
			"ratelimit.backend=redis, io.github.resilience4j, resilience4j-circuitbreaker",
			"ratelimit.policies-store.type=redis, org.springframework.data.redis, spring-boot-starter-data-redis",
			"ratelimit.policies-store.redis.url=redis://localhost, io.lettuce, spring-boot-starter-data-redis",
			"ratelimit.policies-store.type=r2dbc, io.r2dbc, r2dbc-postgresql",
			"ratelimit.identity.resolvers=oidc, org.springframework.security.oauth2, spring-boot-starter-oauth2-client",
			"ratelimit.identity.resolvers=x509, org.springframework.security, spring-boot-starter-security" })
	void settingWithoutItsLibraryFailsTheStartAndNamesTheDependency(String property, String missing,
			String dependency) {
		this.context.withPropertyValues(property).withClassLoader(new FilteredClassLoader(missing)).run((failed) -> {
			assertThat(failed).hasFailed();
			FailureAnalysis analysis = new InvalidPolicyFailureAnalyzer().analyze(failed.getStartupFailure());
			assertThat(analysis).as(failed.getStartupFailure().toString()).isNotNull();
			assertThat(analysis.getDescription()).contains("'" + property.split("=")[0] + "'");
			assertThat(analysis.getAction()).contains(dependency);
		});
	}

	@Test
	void withoutAnyOfThemCountersAreInMemory() {
		this.context
			.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce", "io.r2dbc",
					"io.github.resilience4j"))
			.run((started) -> assertThat(started.getBean(Counters.class)).isInstanceOf(MemoryCounters.class));
	}

}
