package dev.ratelimit.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.data.redis.RedisProperties;
import org.springframework.boot.autoconfigure.kafka.KafkaProperties;
import org.springframework.boot.autoconfigure.web.ServerProperties;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.FileSystemResource;

import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.config.RateLimitProperties;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whoever copies a sample gets what it says: each is free of unknown keys and starts a
 * gateway.
 */
@ExtendWith(OutputCaptureExtension.class)
class ConfigSamplesTests {

	private static final Path FOLDER = Path.of("..", "config-samples");

	private static final Map<String, Class<?>> KNOWN = Map.of("ratelimit", RateLimitProperties.class, "server",
			ServerProperties.class, "spring.data.redis", RedisProperties.class, "spring.kafka", KafkaProperties.class,
			"spring.cloud.gateway.server.webflux", GatewayProperties.class);

	@Test
	void allSamplesAreThere() throws IOException {
		assertThat(samples().map((sample) -> sample.getFileName().toString())).containsExactlyInAnyOrder("gateway.yml",
				"gateway-mvc.yml", "servlet.yml", "tiers-and-overrides.yml", "login-protection.yml",
				"llm-weighted-cost.yml", "llm-tokens.yml", "redis-cluster-tls-acl.yml", "shadow-then-enforce.yml",
				"usage-events.yml", "control-plane.yml", "urls.yml", "payments-idempotent.yml",
				"shadow-beside-another-limiter.yml");
	}

	@ParameterizedTest
	@MethodSource("samples")
	void everyKeyIsKnown(Path sample) throws IOException {
		MutablePropertySources sources = new MutablePropertySources();
		for (PropertySource<?> source : new YamlPropertySourceLoader().load(sample.toString(),
				new FileSystemResource(sample))) {
			sources.addLast(source);
		}
		Binder binder = new Binder(ConfigurationPropertySources.from(sources),
				new PropertySourcesPlaceholdersResolver(sources));
		KNOWN.forEach((prefix, type) -> binder.bind(prefix, Bindable.of(type),
				new NoUnboundElementsBindHandler(BindHandler.DEFAULT)));
		assertThat(binder.bind("ratelimit", RateLimitProperties.class).get().policies()).isNotEmpty();
	}

	/** A sample that is copied as it is must not open a door to whoever has read it. */
	@ParameterizedTest
	@MethodSource("samples")
	void noKeySaltOrPasswordInItWorks(Path sample) throws IOException {
		for (PropertySource<?> source : new YamlPropertySourceLoader().load(sample.toString(),
				new FileSystemResource(sample))) {
			for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
				String value = String.valueOf(source.getProperty(name));
				if (name.contains("sha256:")) {
					assertThat(name).contains("sha256:" + "0".repeat(64));
				}
				if (name.matches("(?i).*(salt|password|secret|token)")) {
					assertThat(value).matches("\\$\\{[A-Z_]+:?}");
				}
				assertThat(value).doesNotContainPattern("://[^/]*@");
				if (name.endsWith(".issuer-uri")) {
					assertThat(source.containsProperty(name.replace("issuer-uri", "audiences"))).isTrue();
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("samples")
	void gatewayStarts(Path sample, CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(RateLimitGatewayApplication.class)
			.run("--spring.config.additional-location=file:" + sample, "--ratelimit.backend=memory", "--server.port=0",
					"--management.server.port=-1", "--spring.reactor.netty.shutdown-quiet-period=0s",
					"--REDIS_CA=" + someCertificate(), "--POLICIES_SNAPSHOT=",
					"--ratelimit.policies-store.start-timeout=0s")) {
			RateLimitProperties properties = context.getBean(RateLimitProperties.class);
			assertThat(context.getBean(Policies.class).get().ids()).isEqualTo(properties.policies().keySet());
			List<Route> routes = context.getBean(RouteLocator.class).getRoutes().collectList().block();
			assertThat(routes).hasSameSizeAs(context.getBean(GatewayProperties.class).getRoutes());
			assertThat(output).doesNotContain("have no effect");
		}
	}

	private static Stream<Path> samples() throws IOException {
		try (Stream<Path> files = Files.list(FOLDER)) {
			return files.filter((file) -> file.toString().endsWith(".yml")).sorted().toList().stream();
		}
	}

	/** Any will do: nothing connects. */
	private static String someCertificate() throws Exception {
		TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		factory.init((KeyStore) null);
		X509Certificate certificate = ((X509TrustManager) factory.getTrustManagers()[0]).getAcceptedIssuers()[0];
		return "-----BEGIN CERTIFICATE-----\n" + Base64.getMimeEncoder().encodeToString(certificate.getEncoded())
				+ "\n-----END CERTIFICATE-----\n";
	}

}
