package dev.ratelimit.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.testing.Pauses;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties under {@code ratelimit} that do not exist, and those that only look so.
 */
@ExtendWith(OutputCaptureExtension.class)
class PropertyCheckTests {

	private static final String ORDERS = "ratelimit.policies.orders.";

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitRedisAutoConfiguration.class))
		.withPropertyValues(ORDERS + "limits.per-user.by=user", ORDERS + "limits.per-user.quota=5/s");

	@ParameterizedTest
	@CsvSource({ "ratelimit.policies.orders.on-failur, ratelimit.policies.orders.on-failure",
			"ratelimit.policies.orders.limits.per-user.quotas, ratelimit.policies.orders.limits.per-user.quota",
			"ratelimit.policies.orders.overrides[0].wen.tenant, ratelimit.policies.orders.overrides[0].when.tenant",
			"ratelimit.policies[a.b].on-failur, ratelimit.policies[a.b].on-failure",
			"ratelimit.policies.orders.degraded-cieling, ratelimit.policies.orders.degraded-ceiling",
			"ratelimit.redis.timout, ratelimit.redis.timeout", "ratelimit.redi.timeout, ratelimit.redis.timeout",
			"ratelimit.identity.hash.slat, ratelimit.identity.hash.salt", "ratelimit.backnd, ratelimit.backend",
			"ratelimit.redis.timeout.ms, ratelimit.redis.timeout",
			"ratelimit.urls.writes.pth, ratelimit.urls.writes.path",
			"ratelimit.urls.writes.before-auth, ratelimit.urls.writes.before-authentication",
			"ratelimit.dimensions.account.clam, ratelimit.dimensions.account.claim" })
	void unknownPropertyFailsTheStartWithTheNearestName(String name, String nearest) {
		FailureAnalysis analysis = analyze(name + "=5");
		assertThat(analysis.getDescription()).contains("There is no property '" + name + "'");
		assertThat(analysis.getAction()).startsWith("Did you mean '" + nearest + "'?")
			.contains("set 'ratelimit.unknown-properties' to warn");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.console.enabled=true", "ratelimit.grpc.enabled=true" })
	void nameOfALaterVersionIsUnknown(String property) {
		assertThat(analyze(property).getDescription()).contains("There is no property");
	}

	@Test
	void everyUnknownPropertyIsNamedAtOnce() {
		FailureAnalysis analysis = analyze("ratelimit.backnd=memory", "ratelimit.regoin=eu");
		assertThat(analysis.getDescription()).contains("ratelimit.backnd").contains("ratelimit.regoin");
		assertThat(analysis.getAction()).contains("'ratelimit.backend'").contains("'ratelimit.region'");
	}

	@Test
	void fileAndLineOfAnUnknownPropertyAreNamed() {
		String yaml = "ratelimit:\n  policies:\n    orders:\n      on-failur: deny\n";
		this.context.withInitializer((application) -> {
			try {
				new YamlPropertySourceLoader()
					.load("application.yml", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8), "the file"))
					.forEach(application.getEnvironment().getPropertySources()::addLast);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		})
			.run((application) -> assertThat(analysis(application).getDescription()).contains("the file")
				.contains("4:18"));
	}

	@Test
	void applicationMayKeepPropertiesOfItsOwn(CapturedOutput output) {
		this.context.withPropertyValues("ratelimit.unknown-properties=warn", "ratelimit.team.chat=#orders")
			.run((application) -> {
				assertThat(application).hasNotFailed();
				assertThat(output).contains("There is no property 'ratelimit.team.chat'").contains("It has no effect.");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.keyPrefix=ab", "ratelimit.key_prefix=ab", "RateLimit.key-prefix=ab",
			"rate-limit.key-prefix=ab", "ratelimit.switch.mode=allow", "ratelimit.policies.orders.onFailure=deny",
			"ratelimit.policies.orders.costs[/orders/export/**]=2", "ratelimit.allow[0].tenant=internal",
			"ratelimit.policies.orders.limits.per-user.quota[1]=9/m",
			"ratelimit.policies.orders.tiers.pro.limits.per-user[0]=9/s",
			"ratelimit.policies.orders.overrides[0].when.tenant=acme",
			"ratelimit.identity.api-keys[sha256:00].tier=pro", "ratelimit.policies.orders.rollout.stages[0]=5",
			"ratelimit.policies-store.redis.url=" })
	void propertyThatExistsIsKnownHoweverItIsWritten(String property) {
		assertThat(mistakes(property)).isEmpty();
	}

	@Test
	void propertyOfTheApplicationThatItsMetadataNamesIsKnown(@TempDir Path directory) throws IOException {
		Path file = directory.resolve("META-INF/spring-configuration-metadata.json");
		Files.createDirectories(file.getParent());
		Files.writeString(file, """
				{"groups": [{"name": "ratelimit.own.settings", "type": "%1$s", "sourceType": "%1$s"}],
				 "properties": [{"name": "ratelimit.own.settings.size", "type": "int", "sourceType": "%1$s"},
				  {"name": "ratelimit.own.bean.colour", "type": "java.lang.String", "sourceType": "gone.Bean"},
				  {"name": "ratelimit.own.bean.names", "type": "java.util.Map", "sourceType": "gone.Bean"}]}
				""".formatted(OwnSettings.class.getName()));
		try (URLClassLoader loader = new URLClassLoader(new URL[] { directory.toUri().toURL() },
				getClass().getClassLoader())) {
			ApplicationContextRunner application = this.context.withClassLoader(loader);
			application
				.withPropertyValues("ratelimit.own.settings.size=5", "ratelimit.own.settings.names.a.b=c",
						"ratelimit.own.bean.colour=red", "ratelimit.own.bean.names.a=b")
				.run((started) -> assertThat(started).hasNotFailed());
			application.withPropertyValues("ratelimit.own.settings.sizes=5")
				.run((failed) -> assertThat(analysis(failed).getAction())
					.startsWith("Did you mean 'ratelimit.own.settings.size'?"));
		}
	}

	@Test
	void unknownVariableIsAWarningWithTheNearestName(CapturedOutput output) {
		variables(Map.of("RATELIMIT_REDIS_TIMOUT", "10ms", "RATELIMIT_POLICIES_ORDERS_ON_FAILUR", "deny"))
			.run((application) -> {
				assertThat(application).hasNotFailed();
				assertThat(output).contains("'RATELIMIT_REDIS_TIMOUT'")
					.contains("Did you mean 'ratelimit.redis.timeout'?")
					.contains("Did you mean 'ratelimit.policies.orders.on-failure'?");
			});
	}

	@Test
	void unknownSystemPropertyIsAWarningWithTheNearestName(CapturedOutput output) {
		this.context.withSystemProperties("ratelimit.redis.timout=10ms").run((application) -> {
			assertThat(application).hasNotFailed();
			assertThat(output).contains("Did you mean 'ratelimit.redis.timeout'?");
		});
	}

	@Test
	void variableThatExistsIsKnownHoweverItIsWritten(CapturedOutput output) {
		variables(Map.of("RATELIMIT_KEY_PREFIX", "ab", "RATELIMIT_KEYPREFIX", "ab", "RATELIMIT_REDIS_TIMEOUT", "10ms",
				"RATELIMIT_POLICIES_ORDERS_LIMITS_PER_USER_QUOTA", "7/s", "RATELIMIT_POLICIES_ORDERS_ONFAILURE", "deny",
				"RATELIMIT_IDENTITY_HASH_SALT", "0123456789abcdef0123456789abcdef"))
			.run((application) -> {
				assertThat(application).hasNotFailed();
				assertThat(output).doesNotContain("There is no property");
			});
	}

	@ParameterizedTest
	@CsvSource({ "RATELIMIT_POLICIES_DEMO_PUBLIC_ON_FAILURE, deny, ratelimit.policies.demo-public.on-failure,",
			"RATELIMIT_POLICIES_DEMOPUBLIC_ONFAILURE, deny, ratelimit.policies.demo-public.on-failure,",
			"ratelimit_policies_demo_public_on_failure, deny, ratelimit.policies.demo-public.on-failure,",
			"RATELIMIT_POLICIES_DEMO_PUBLIC_ONFAILURE, deny, ratelimit.policies.demo-public.on-failure, "
					+ "RATELIMIT_POLICIES_DEMO_PUBLIC_ON_FAILURE",
			"RATELIMIT_POLICIES_DEMO_PUBLIC_LIMITS_PER_USER_QUOTA, 7/s, "
					+ "ratelimit.policies.demo-public.limits.per-user.quota,",
			"RATELIMIT_POLICIESSTORE_SNAPSHOTFILE, f, ratelimit.policies-store.snapshot-file,",
			"RATELIMIT_POLICIES_STORE_SNAPSHOT_FILE, f, ratelimit.policies-store.snapshot-file,",
			"RATELIMIT_POLICIES_STORE_SNAPSHOTFILE, f, ratelimit.policies-store.snapshot-file, "
					+ "RATELIMIT_POLICIES_STORE_SNAPSHOT_FILE",
			"RATELIMIT_POLICIESSTORE_SNAPSHOT_FILE, f, ratelimit.policies-store.snapshot-file, "
					+ "RATELIMIT_POLICIES_STORE_SNAPSHOT_FILE",
			"RATELIMIT_KEY_PRE_FIX, ab, ratelimit.key-prefix, RATELIMIT_KEY_PREFIX",
			"RATELIMIT_REDIS_TIME_OUT, 10ms, ratelimit.redis.timeout, RATELIMIT_REDIS_TIMEOUT",
			"ratelimit.policies-store.snapshot-file, f, ratelimit.policies-store.snapshot-file,",
			"RATELIMIT_DENY_0_TENANT, acme, ratelimit.deny[0].tenant,",
			"RATELIMIT_POLICIES_DEMOPUBLIC_COSTS_EXPORT_ALL, 2, ratelimit.policies.demo-public.costs.export.all,",
			"RATELIMIT_POLICIES_DEMO_PUBLIC_COSTS_EXPORT_ALL, 2, ratelimit.policies.demo-public.costs.export-all," })
	void variableThatBootDoesNotBindIsAWarningWithTheRightSpelling(String variable, String value, String name,
			String right) {
		StandardEnvironment environment = environment(Map.of(variable, value));
		assertThat(Binder.get(environment).bind(name, String.class).isBound()).isEqualTo(right == null);
		List<String> warnings = new ArrayList<>();
		assertThat(new PropertyCheck(environment).mistakes(warnings::add)).isEmpty();
		if (right == null) {
			assertThat(warnings).isEmpty();
		}
		else {
			assertThat(warnings).singleElement()
				.asString()
				.contains("'" + variable + "'")
				.contains("'" + right + "'")
				.contains("has no effect");
			assertThat(Binder.get(environment(Map.of(right, value))).bind(name, String.class).get()).isEqualTo(value);
		}
	}

	@Test
	void variablesOfToolsAndOfPlaceholdersAreLeftAlone(CapturedOutput output) {
		variables(Map.of("RATELIMIT_SALT", "x", "RATELIMIT_URL", "http://localhost:8081", "RATELIMIT_TOKEN_FILE", "f",
				"RATELIMIT_REGION_OF_DEPLOYMENT", "eu"))
			.withPropertyValues("ratelimit.region=${RATELIMIT_REGION_OF_DEPLOYMENT:local}")
			.run((application) -> {
				assertThat(application.getBean(RateLimitProperties.class).region()).isEqualTo("eu");
				assertThat(output).doesNotContain("There is no property");
			});
	}

	@Test
	void variablesOfKubernetesServicesAreLeftAloneAndNotBound(CapturedOutput output) {
		variables(Map.ofEntries(Map.entry("RATELIMIT_REDIS_SERVICE_HOST", "10.0.0.7"),
				Map.entry("RATELIMIT_REDIS_SERVICE_PORT", "6379"),
				Map.entry("RATELIMIT_REDIS_SERVICE_PORT_REDIS", "6379"),
				Map.entry("RATELIMIT_REDIS_PORT", "tcp://10.0.0.7:6379"),
				Map.entry("RATELIMIT_REDIS_PORT_6379_TCP", "tcp://10.0.0.7:6379"),
				Map.entry("RATELIMIT_REDIS_PORT_6379_TCP_PROTO", "tcp"),
				Map.entry("RATELIMIT_REDIS_PORT_6379_TCP_ADDR", "10.0.0.7"),
				Map.entry("RATELIMIT_GRPC_PORT", "tcp://10.0.0.8:8082"),
				Map.entry("RATELIMIT_PORT", "udp://10.0.0.9:1"), Map.entry("RATELIMIT_SERVICE_HOST", "10.0.0.9"),
				Map.entry("RATELIMIT_POLICIES_PORT", "tcp://10.0.0.9:80"),
				Map.entry("RATELIMIT_POLICIES_SERVICE_HOST", "10.0.0.9"),
				Map.entry("RATELIMIT_POLICIES_ORDERS_TIMEOUT", "7ms")))
			.withPropertyValues("own.redis=${RATELIMIT_REDIS_SERVICE_HOST}")
			.run((application) -> {
				assertThat(application).hasNotFailed();
				assertThat(output).doesNotContain("There is no property");
				RateLimitProperties properties = application.getBean(RateLimitProperties.class);
				assertThat(properties.policies()).containsOnlyKeys("orders");
				assertThat(properties.policies().get("orders").timeout()).isEqualTo(Duration.ofMillis(7));
				assertThat(application.getEnvironment().getProperty("ratelimit.grpc.port")).isNull();
				assertThat(application.getEnvironment().getProperty("own.redis")).isEqualTo("10.0.0.7");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotency.header=X Y", "idempotency.ttl=2d", "idempotency.max-replays=0" })
	void invalidIdempotencyFailsTheStart(String setting) {
		FailureAnalysis analysis = analyze(ORDERS + setting);
		assertThat(analysis.getAction()).contains("'" + ORDERS + "idempotency.ttl' to 1s to 1d");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis.timeout", "ratelimit.redis.breaker.open-for", "ratelimit.lease.expires",
			"ratelimit.identity.hash.rotate", "ratelimit.refusals.retention", "ratelimit.policies.orders.timeout",
			"ratelimit.policies.orders.rollout.hold", "ratelimit.policies.orders.idempotency.ttl" })
	void durationWithoutAUnitFailsTheStart(String name) {
		FailureAnalysis analysis = analyze(name + "=10");
		assertThat(analysis.getDescription()).isEqualTo("'" + name + "' is '10', which has no unit.");
		assertThat(analysis.getAction()).startsWith("Set '" + name + "' to a duration such as 10ms");
	}

	@Test
	void durationWithoutAUnitBehindAPlaceholderOrInAVariableFailsTheStart() {
		assertThat(analyze("own.timeout=10", "ratelimit.redis.timeout=${own.timeout}").getDescription())
			.contains("has no unit");
		variables(Map.of("RATELIMIT_REDIS_TIMEOUT", "10"))
			.run((application) -> assertThat(analysis(application).getDescription())
				.contains("'RATELIMIT_REDIS_TIMEOUT' is '10', which has no unit"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "-5ms", "0ms", "1ns", "999us" })
	void deadlineBelowAMillisecondFailsTheStart(String timeout) {
		assertThat(analyze(ORDERS + "timeout=" + timeout)).satisfies((analysis) -> {
			assertThat(analysis.getDescription()).contains("Timeout must be at least 1ms");
			assertThat(analysis.getAction()).contains("'" + ORDERS + "timeout'");
		});
		assertThat(analyze("ratelimit.redis.timeout=" + timeout)).satisfies((analysis) -> {
			assertThat(analysis.getDescription()).contains("Timeout must be at least 1ms");
			assertThat(analysis.getAction()).contains("'ratelimit.redis.timeout'");
		});
	}

	@Test
	void stagesInShadowFailTheStart() {
		FailureAnalysis analysis = analyze(ORDERS + "mode=shadow", ORDERS + "rollout.stages=1,10,100");
		assertThat(analysis.getDescription()).contains("is in shadow and has rollout stages");
		assertThat(analysis.getAction()).contains("'" + ORDERS + "rollout.stages'");
	}

	@Test
	void checkOfManyPoliciesTakesNoTimeThatAnybodyNotices() {
		String[] properties = IntStream.range(0, 1_000)
			.boxed()
			.flatMap((i) -> List
				.of("ratelimit.policies.p" + i + ".limits.all.by=",
						"ratelimit.policies.p" + i + ".limits.all.quota=5/s")
				.stream())
			.toArray(String[]::new);
		mistakes(properties);
		long start = Pauses.now();
		assertThat(mistakes(properties)).isEmpty();
		assertThat(Pauses.without(start)).isLessThan(Duration.ofSeconds(1));
	}

	private FailureAnalysis analyze(String... properties) {
		FailureAnalysis[] analysis = new FailureAnalysis[1];
		this.context.withPropertyValues(properties).run((application) -> analysis[0] = analysis(application));
		return analysis[0];
	}

	private static FailureAnalysis analysis(AssertableApplicationContext application) {
		assertThat(application).hasFailed();
		FailureAnalysis analysis = new InvalidPolicyFailureAnalyzer().analyze(application.getStartupFailure());
		assertThat(analysis).as(application.getStartupFailure().toString()).isNotNull();
		return analysis;
	}

	private ApplicationContextRunner variables(Map<String, Object> variables) {
		return this.context.withInitializer((application) -> sources(application.getEnvironment(),
				(sources) -> sources.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
						new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
								variables))));
	}

	private static StandardEnvironment environment(Map<String, Object> variables) {
		StandardEnvironment environment = new StandardEnvironment();
		sources(environment,
				(sources) -> sources.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
						new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
								variables)));
		ConfigurationPropertySources.attach(environment);
		return environment;
	}

	private static List<PropertyCheck.Mistake> mistakes(String... properties) {
		Map<String, Object> values = new LinkedHashMap<>();
		for (String property : properties) {
			int end = property.lastIndexOf('=');
			values.put(property.substring(0, end), property.substring(end + 1));
		}
		StandardEnvironment environment = new StandardEnvironment();
		sources(environment, (sources) -> sources.addFirst(new MapPropertySource("test", values)));
		return new PropertyCheck(environment).mistakes((warning) -> {
		});
	}

	private static void sources(ConfigurableEnvironment environment, Consumer<MutablePropertySources> change) {
		change.accept(environment.getPropertySources());
	}

	/**
	 * Properties of an application.
	 */
	record OwnSettings(int size, Map<String, String> names) {
	}

}
