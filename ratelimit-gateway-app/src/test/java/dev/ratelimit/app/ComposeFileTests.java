package dev.ratelimit.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.yaml.snakeyaml.Yaml;

import dev.ratelimit.config.RateLimitProperties;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What can be said about docker-compose.yml without Docker.
 */
class ComposeFileTests {

	private static final Path ROOT = Path.of("..");

	private final Map<String, Map<String, Object>> services = load().get("services");

	@Test
	void everyImageIsPinned() throws IOException {
		Stream<String> images = this.services.values().stream().map((service) -> (String) service.get("image"));
		Stream<String> bases = Files.readAllLines(Path.of("Dockerfile"))
			.stream()
			.filter((line) -> line.startsWith("FROM "))
			.map((line) -> line.substring("FROM ".length()));
		assertThat(Stream.concat(images, bases)).isNotEmpty()
			.allSatisfy((image) -> assertThat(image).matches("[a-z0-9/-]+:v?\\d+\\.\\d+\\.\\d+[a-z0-9_.-]*"));
	}

	@Test
	void everyMountedFileIsThere() {
		assertThat(this.services.values().stream().flatMap((service) -> strings(service.get("volumes")))).isNotEmpty()
			.allSatisfy((volume) -> assertThat(ROOT.resolve(volume.split(":")[0])).exists());
	}

	@Test
	void everyPortIsOfThisHostOnly() {
		assertThat(this.services.values().stream().flatMap((service) -> strings(service.get("ports")))).isNotEmpty()
			.allSatisfy((port) -> assertThat(port).startsWith("127.0.0.1:"));
	}

	@Test
	void everyServiceThatIsWaitedForIsThere() {
		assertThat(this.services.values().stream().map((service) -> service.get("depends_on")))
			.allSatisfy((names) -> assertThat(this.services.keySet()).containsAll(names(names)));
	}

	@Test
	void gatewaysShareALimitBehindOneTrustedProxy() {
		RateLimitProperties properties = environment("gateway-1");
		assertThat(properties).isEqualTo(environment("gateway-2"));
		assertThat(properties.identity().trustedHops()).isEqualTo(1);
		assertThat(properties.fleet().expected()).isEqualTo(2);
	}

	@Test
	void demoIsOpenedToTheOtherContainersAndHasNoSecret() {
		assertThat(List.of("gateway-1", "gateway-2")).allSatisfy((service) -> {
			Map<?, ?> variables = (Map<?, ?>) this.services.get(service).get("environment");
			assertThat(variables.get("SPRING_PROFILES_ACTIVE")).isEqualTo("demo");
			assertThat(variables.get("RATELIMIT_DEMO_REMOTE")).isEqualTo("true");
			assertThat(variables.keySet().toString()).doesNotContain("SALT", "PASSWORD", "APIKEYS");
		});
	}

	@Test
	void prometheusScrapesBothGateways() throws IOException {
		assertThat(Files.readString(ROOT.resolve("docs/monitoring/prometheus/prometheus.yml")))
			.contains("gateway-1:8081", "gateway-2:8081", "/actuator/prometheus");
	}

	@SuppressWarnings("unchecked")
	private RateLimitProperties environment(String service) {
		Map<String, Object> variables = (Map<String, Object>) this.services.get(service).get("environment");
		MutablePropertySources sources = new MutablePropertySources();
		sources.addFirst(new SystemEnvironmentPropertySource("systemEnvironment", variables));
		return new Binder(ConfigurationPropertySources.from(sources)).bindOrCreate("ratelimit",
				RateLimitProperties.class);
	}

	private static Stream<String> strings(Object list) {
		return (list instanceof List<?> values) ? values.stream().map(String.class::cast) : Stream.empty();
	}

	private static List<String> names(Object dependencies) {
		return (dependencies instanceof Map<?, ?> map) ? strings(List.copyOf(map.keySet())).toList()
				: strings(dependencies).toList();
	}

	private static Map<String, Map<String, Map<String, Object>>> load() {
		try {
			return new Yaml().load(Files.readString(ROOT.resolve("docker-compose.yml")));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
