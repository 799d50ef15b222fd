package dev.ratelimit.admin;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import dev.ratelimit.FailureMode;
import dev.ratelimit.fleet.ForcedMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SwitchAdminTests {

	@ParameterizedTest
	@CsvSource({ "1h, 3600", "30m, 1800", "90s, 90", "PT2H, 7200", "30d, 2592000" })
	void durationsAreReadAsWritten(String duration, long seconds) {
		assertThat(SwitchAdmin.wanted(body(Map.of("mode", "deny", "for", duration)), "ann").left()).hasSeconds(seconds);
	}

	@Test
	void onlyTheModeIsNeeded() {
		assertThat(SwitchAdmin.wanted(body(Map.of("mode", "Local")), "ann"))
			.isEqualTo(new ForcedMode(FailureMode.LOCAL, ForcedMode.USUAL, "ann", ""));
	}

	@Test
	void nullIsAsGoodAsAbsent() {
		Map<String, Object> body = new HashMap<>(Map.of("mode", "allow"));
		body.put("for", null);
		body.put("reason", null);
		assertThat(SwitchAdmin.wanted(body(body), "ann").left()).isEqualTo(ForcedMode.USUAL);
	}

	@ParameterizedTest
	@MethodSource
	void whatCannotBeMeantNamesFieldAndFix(Map<String, Object> body, String field) {
		assertThatExceptionOfType(AdminProblem.class).isThrownBy(() -> SwitchAdmin.wanted(body(body), "ann"))
			.satisfies((problem) -> assertThat(problem.response().getBody()).containsEntry("status", 400)
				.containsEntry("field", field)
				.containsKey("fix"));
	}

	static Stream<Arguments> whatCannotBeMeantNamesFieldAndFix() {
		return Stream.of(Arguments.of(Map.of(), "mode"), Arguments.of(Map.of("mode", "alow"), "mode"),
				Arguments.of(Map.of("mode", 1), "mode"), duration("soon"), duration("30"), duration(30), duration("0s"),
				duration("999ms"), duration("-1h"), duration("31d"), duration("9999999999999999d"), duration(""),
				Arguments.of(Map.of("mode", "allow", "duration", "5m"), "duration"));
	}

	private static Fields body(Map<String, Object> fields) {
		return Fields.ofBody(fields, null);
	}

	private static Arguments duration(Object value) {
		return Arguments.of(Map.of("mode", "allow", "for", value), "for");
	}

}
