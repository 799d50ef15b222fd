package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.context.properties.ConfigurationPropertiesReportEndpoint;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.env.EnvironmentEndpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.config.StartupFailures;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The settings of {@code ratelimit.identity.hash}, and what applications share.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class HashingIntegrationTests {

	private static final String SALT = "ratelimit.identity.hash.salt=correct horse battery";

	private static final Request CALLER = Request.of("login").with(Dimension.IP, "198.51.100.7");

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class))
		.withPropertyValues("ratelimit.redis.timeout=2s", "ratelimit.policies.login.limits.per-ip.by=ip",
				"ratelimit.policies.login.limits.per-ip.quota=2/d");

	@Test
	void applicationsWithoutASaltShareOneAndTheirCounters(RedisServer redis, CapturedOutput output) {
		on(redis).run((one) -> on(redis).run((other) -> {
			assertThat(text(one)).isEqualTo(text(other));
			assertThat(check(one).remaining()).isEqualTo(1);
			assertThat(check(other).remaining()).isZero();
			assertThat(check(one).allowed()).isFalse();
			assertThat(output).doesNotContain(salt(one));
		}));
		assertThat(output.toString().split("ratelimit.identity.hash.salt is not set", -1)).hasSize(3);
	}

	@Test
	void saltMadeOnceIsStillThereAfterARestart(RedisServer redis) {
		on(redis).run((context) -> check(context));
		on(redis).run((context) -> assertThat(check(context).remaining()).isZero());
	}

	@Test
	void applicationThatStartsBeforeRedisTakesTheFleetsSaltWhenItComes() {
		try (RedisServer redis = RedisServer.start()) {
			redis.kill();
			on(redis).run((context) -> {
				String own = text(context);
				assertThat(check(context).degraded()).isTrue();
				redis.restart();
				redis.cli("SETNX", "rl:{fleet}:salt", "of the others");
				await().atMost(Duration.ofSeconds(30))
					.until(() -> check(context).source() == Decision.Source.REDIS
							&& salt(context).equals(redis.cli("GET", "rl:{fleet}:salt")));
				if (salt(context).equals("of the others")) {
					assertThat(text(context)).isNotEqualTo(own);
				}
			});
		}
	}

	@Test
	void chosenSaltIsUsedAndStaysOutOfRedisAndTheLog(RedisServer redis, CapturedOutput output) {
		on(redis).withPropertyValues(SALT).run((context) -> {
			assertThat(salt(context)).isEqualTo("correct horse battery");
			check(context);
			assertThat(redis.cli("EXISTS", "rl:{fleet}:salt")).isEqualTo("0");
		});
		assertThat(output).doesNotContain("correct horse").doesNotContain("salt is not set");
	}

	@Test
	void anotherSaltIsAnotherCounter(RedisServer redis) {
		on(redis).withPropertyValues(SALT).run((context) -> assertThat(check(context).remaining()).isEqualTo(1));
		on(redis).withPropertyValues(SALT + "!").run((context) -> assertThat(check(context).remaining()).isEqualTo(1));
		on(redis).withPropertyValues(SALT).run((context) -> assertThat(check(context).remaining()).isZero());
	}

	@Test
	void withoutHashingTheSaltDoesNotMatterToCounters(RedisServer redis) {
		ApplicationContextRunner plain = on(redis).withPropertyValues("ratelimit.identity.hash.ip=false",
				"ratelimit.identity.hash.rotate=1h");
		plain.withPropertyValues(SALT).run((context) -> assertThat(check(context).remaining()).isEqualTo(1));
		plain.withPropertyValues(SALT + "!").run((context) -> assertThat(check(context).remaining()).isZero());
	}

	@Test
	void inMemoryTheSaltIsOfTheProcessAndNobodyIsWarned(CapturedOutput output) {
		this.context
			.run((one) -> this.context.run((other) -> assertThat(text(one)).hasSize(24).isNotEqualTo(text(other))));
		assertThat(output).doesNotContain("salt");
	}

	@Test
	void shortSaltIsWarnedOf(CapturedOutput output) {
		this.context.withPropertyValues("ratelimit.identity.hash.salt=pepper")
			.run((context) -> assertThat(output).contains("salt has fewer than 16 characters")
				.doesNotContain("pepper"));
	}

	@Test
	void secretsAreHiddenEvenWhereBootShowsAllProperties() {
		this.context
			.withPropertyValues(SALT, "RATELIMIT_SALT=correct horse battery",
					"RATELIMIT_IDENTITY_HASH_SALT=correct horse battery", "ratelimit.region=eu-1",
					"ratelimit.policies-store.type=none",
					"ratelimit.policies-store.redis.url=redis://store:hunter2@redis.example.com:6379",
					"RATELIMIT_POLICIESSTORE_REDIS_URL=redis://store:hunter2@redis.example.com:6379")
			.run((context) -> {
				List<SanitizingFunction> functions = List.of(context.getBean(SanitizingFunction.class));
				EnvironmentEndpoint environment = new EnvironmentEndpoint(context.getEnvironment(), functions,
						Show.ALWAYS);
				ConfigurationPropertiesReportEndpoint properties = new ConfigurationPropertiesReportEndpoint(functions,
						Show.ALWAYS);
				properties.setApplicationContext(context.getSourceApplicationContext());
				String shown = values(environment.environment(null)) + beans(properties.configurationProperties());
				assertThat(shown).contains("eu-1")
					.contains("salt")
					.contains("url")
					.doesNotContain("correct horse", "hunter2");
			});
	}

	@Test
	void pseudonymsOfTheApplicationGoBeforeOurs() {
		Pseudonyms own = (dimension, value) -> "own";
		this.context.withBean("own", Pseudonyms.class, () -> own)
			.run((context) -> assertThat(context.getBean(Pseudonyms.class)).isSameAs(own));
	}

	@Test
	void rotationThatIsTooShortStopsTheStart() {
		FailureAnalysis analysis = analyze("ratelimit.identity.hash.rotate=10m",
				"ratelimit.policies.login.limits.per-ip.quota=2/m");
		assertThat(analysis.getDescription())
			.isEqualTo("Hashes must rotate after at least 1 hour but rotate after PT10M.");
		assertThat(analysis.getAction())
			.isEqualTo("Set 'ratelimit.identity.hash.rotate' to at least 1h, for example 90d.");
	}

	@Test
	void windowThatIsLongerThanAHashIsUsedStopsTheStart() {
		FailureAnalysis analysis = analyze("ratelimit.identity.hash.rotate=12h");
		assertThat(analysis.getDescription())
			.isEqualTo("A window of 86400 s is longer than the 43200 s for which a hash is used.");
		assertThat(analysis.getAction())
			.isEqualTo("Set 'ratelimit.identity.hash.rotate' to at least the longest window, or "
					+ "'ratelimit.policies.login.limits.per-ip.quota' to a shorter one.");
	}

	private static String values(EnvironmentEndpoint.EnvironmentDescriptor environment) {
		return environment.getPropertySources()
			.stream()
			.flatMap((source) -> source.getProperties().entrySet().stream())
			.map((property) -> property.getKey() + "=" + property.getValue().getValue())
			.collect(Collectors.joining(" "));
	}

	private static String beans(ConfigurationPropertiesReportEndpoint.ConfigurationPropertiesDescriptor properties) {
		return properties.getContexts()
			.values()
			.stream()
			.flatMap((context) -> context.getBeans().values().stream())
			.map((bean) -> bean.getProperties() + " " + bean.getInputs())
			.collect(Collectors.joining(" "));
	}

	private FailureAnalysis analyze(String... properties) {
		FailureAnalysis[] analysis = new FailureAnalysis[1];
		this.context.withPropertyValues(properties)
			.run((context) -> analysis[0] = StartupFailures.analyze(context.getStartupFailure()));
		return analysis[0];
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	private static Decision check(ApplicationContext context) {
		return context.getBean(RateLimiter.class).check(CALLER).toCompletableFuture().join();
	}

	private static String text(ApplicationContext context) {
		return context.getBean(Pseudonyms.class).of(Dimension.IP, "198.51.100.7");
	}

	private static String salt(ApplicationContext context) {
		return context.getBean(Salt.class).text();
	}

}
