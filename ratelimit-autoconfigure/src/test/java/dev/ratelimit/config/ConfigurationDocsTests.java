package dev.ratelimit.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the build generates for editors and what the docs say are the same properties.
 */
class ConfigurationDocsTests {

	@Test
	void everyPropertyHasADescription() throws IOException {
		assertThat(properties()).isNotEmpty()
			.allSatisfy((property) -> assertThat(property.path("description").asText()).as(property.toString())
				.isNotBlank()
				.endsWith(".")
				.doesNotStartWith("The "));
	}

	@Test
	void everyPropertyIsInTheDocs() throws IOException {
		String docs = Files.readString(Path.of("..", "docs", "configuration.md"));
		assertThat(properties().stream().map((property) -> property.path("name").asText()))
			.filteredOn((name) -> name.startsWith("ratelimit.") && !name.equals("ratelimit.policies"))
			.allSatisfy((name) -> assertThat(docs).contains("`" + name + "`"));
	}

	@Test
	void everySettingOfAPolicyIsInTheDocs() throws IOException {
		String docs = Files.readString(Path.of("..", "docs", "configuration.md"));
		String policy = docs.substring(docs.indexOf("## A policy"), docs.indexOf("## Routes"));
		assertThat(
				Stream.of(PolicyProperties.class.getRecordComponents()).map((component) -> dashed(component.getName())))
			.allSatisfy((name) -> assertThat(policy).contains(name));
	}

	private static List<JsonNode> properties() throws IOException {
		try (InputStream metadata = RateLimitProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			List<JsonNode> properties = new ArrayList<>();
			new ObjectMapper().readTree(metadata).path("properties").forEach((property) -> {
				if (property.path("name").asText().startsWith("ratelimit.")) {
					properties.add(property);
				}
			});
			return properties;
		}
	}

	private static String dashed(String name) {
		return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
	}

}
