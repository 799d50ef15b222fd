package dev.ratelimit.aop;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.ProblemDetail;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.web.HttpAnswer;

import static org.assertj.core.api.Assertions.assertThat;

class RateLimitErrorResponseExceptionTests {

	@ParameterizedTest
	@ValueSource(strings = { "type", "title", "detail", "instance", "status", "own" })
	void memberWithoutAValueIsLeftOut(String name) {
		assertThat(body(name, null)).isEqualTo(ProblemDetail.forStatus(429));
	}

	@ParameterizedTest
	@ValueSource(strings = { "type", "instance" })
	void memberThatIsNoUriIsLeftOut(String name) {
		assertThat(body(name, "not a URI")).isEqualTo(ProblemDetail.forStatus(429));
	}

	@Test
	void uriMayBeAnyObject() {
		assertThat(body("type", URI.create("https://example.com/limits")).getType())
			.hasToString("https://example.com/limits");
	}

	private static ProblemDetail body(String name, @Nullable Object value) {
		Map<String, Object> members = new HashMap<>();
		members.put(name, value);
		Decision decision = Decision.without(Request.of("orders"), 0, false, Decision.Outcome.REFUSED,
				Decision.Reason.LIMITS);
		HttpAnswer answer = new HttpAnswer(429, Map.of(), new HttpAnswer.Problem(members, ""));
		return new RateLimitErrorResponseException(decision, false, () -> answer).getBody();
	}

}
