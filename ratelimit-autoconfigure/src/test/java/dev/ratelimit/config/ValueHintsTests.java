package dev.ratelimit.config;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.json.JsonReader;
import dev.ratelimit.web.CallerSource;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.UrlLimit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The values that an editor offers are those that the code knows.
 */
class ValueHintsTests {

	private static final List<String> DIMENSIONS = Dimension.BUILT_IN.stream().map(Dimension::name).toList();

	static Stream<Arguments> values() {
		return Stream.of(Arguments.of("ratelimit.allow.keys", DIMENSIONS),
				Arguments.of("ratelimit.deny.keys", DIMENSIONS),
				Arguments.of("ratelimit.headers.style", names(HeaderOptions.Style.values())),
				Arguments.of("ratelimit.identity.resolvers", names(CallerSource.values())),
				Arguments.of("ratelimit.policies.algorithm", names(Algorithm.values())),
				Arguments.of("ratelimit.policies.enforcement", names(Enforcement.values())),
				Arguments.of("ratelimit.policies.limits.by", DIMENSIONS),
				Arguments.of("ratelimit.policies.mode", names(PolicyProperties.Mode.values())),
				Arguments.of("ratelimit.policies.on-failure", names(FailureMode.values())),
				Arguments.of("ratelimit.policies.on-missing-identity", names(MissingIdentity.values())),
				Arguments.of("ratelimit.urls.methods", UrlLimit.METHODS));
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

	private static List<String> names(Enum<?>... values) {
		return Arrays.stream(values).map((value) -> value.name().toLowerCase(Locale.ROOT).replace('_', '-')).toList();
	}

	private static List<Object> values(Map<?, ?> hint) {
		return ((List<?>) hint.get("values")).stream()
			.<Object>map((value) -> ((Map<?, ?>) value).get("value"))
			.toList();
	}

	private static List<Map<?, ?>> hints() throws IOException {
		String name = "/META-INF/additional-spring-configuration-metadata.json";
		try (InputStream input = ValueHintsTests.class.getResourceAsStream(name)) {
			assertThat(input).isNotNull();
			List<?> hints = (List<?>) JsonReader.object(input.readAllBytes()).get("hints");
			return hints.stream().<Map<?, ?>>map((hint) -> (Map<?, ?>) hint).toList();
		}
	}

}
