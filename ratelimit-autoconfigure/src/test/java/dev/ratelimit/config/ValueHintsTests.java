package dev.ratelimit.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.ratelimit.json.JsonReader;
import dev.ratelimit.web.CallerSource;
import dev.ratelimit.web.HeaderOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The values that an editor offers are those that the code knows.
 */
class ValueHintsTests {

	static Stream<Arguments> values() {
		return Stream.of(Arguments.of("ratelimit.headers.style", names(HeaderOptions.Style.values())),
				Arguments.of("ratelimit.identity.resolvers", names(CallerSource.values())));
	}

	@ParameterizedTest
	@MethodSource("values")
	void hintHasTheValuesOfTheCode(String property, List<String> values) throws IOException {
		assertThat(hints()).filteredOn((hint) -> hint.get("name").equals(property))
			.singleElement()
			.satisfies((hint) -> assertThat(values(hint)).containsExactlyInAnyOrderElementsOf(values));
	}

	@Test
	void everyHintIsCompared() throws IOException {
		assertThat(hints().stream().<Object>map((hint) -> hint.get("name")))
			.containsExactlyElementsOf(values().map((arguments) -> arguments.get()[0]).toList());
	}

	/**
	 * Editors ignore any other name, such as that of a field inside a map or a list:
	 * there they offer the constants of its type.
	 */
	@Test
	void everyHintIsAboutAProperty() throws IOException {
		Set<Object> properties = metadata("spring-configuration-metadata.json", "properties").stream()
			.<Object>map((property) -> property.get("name"))
			.collect(Collectors.toSet());
		assertThat(properties).contains("ratelimit.backend");
		assertThat(hints()).isNotEmpty()
			.allSatisfy((hint) -> assertThat(properties)
				.contains(String.valueOf(hint.get("name")).replaceAll("\\.(keys|values)$", "")));
	}

	private static List<String> names(Enum<?>... values) {
		return Arrays.stream(values).map((value) -> value.name().toLowerCase(Locale.ROOT).replace('_', '-')).toList();
	}

	private static List<Object> values(Map<?, ?> hint) {
		return ((List<?>) hint.get("values")).stream()
			.<Object>map((value) -> ((Map<?, ?>) value).get("value"))
			.toList();
	}

	private static List<Map<?, ?>> hints() throws IOException {
		return metadata("additional-spring-configuration-metadata.json", "hints");
	}

	/** Other libraries have files of the same name. */
	private static InputStream open(String file) throws IOException {
		return Files.newInputStream(Path.of("target", "classes", "META-INF", file));
	}

	private static List<Map<?, ?>> metadata(String file, String part) throws IOException {
		try (InputStream input = open(file)) {
			List<?> entries = (List<?>) JsonReader.object(input.readAllBytes()).get(part);
			return entries.stream().<Map<?, ?>>map((entry) -> (Map<?, ?>) entry).toList();
		}
	}

}
