package dev.ratelimit.test;

import java.io.UnsupportedEncodingException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.reactive.server.EntityExchangeResult;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.ResultActions;

/**
 * Assertions on HTTP answers of limited applications. A failure shows the status and the
 * headers about limits, not the body.
 */
public final class HttpAnswerAssert extends AbstractAssert<HttpAnswerAssert, HttpAnswerAssert.Answer> {

	private static final int REFUSED = 429;

	private HttpAnswerAssert(Answer actual) {
		super(actual, HttpAnswerAssert.class);
	}

	/**
	 * Asserts on an answer to MockMvc.
	 */
	public static HttpAnswerAssert assertThatMvc(ResultActions actions) {
		MockHttpServletResponse response = actions.andReturn().getResponse();
		try {
			return new HttpAnswerAssert(
					new Answer(response.getStatus(), response::getHeader, response.getContentAsString()));
		}
		catch (UnsupportedEncodingException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Asserts on an answer to a WebTestClient.
	 */
	public static HttpAnswerAssert assertThatExchange(WebTestClient.ResponseSpec response) {
		EntityExchangeResult<String> result = response.expectBody(String.class).returnResult();
		return new HttpAnswerAssert(new Answer(result.getStatus().value(), result.getResponseHeaders()::getFirst,
				Objects.requireNonNullElse(result.getResponseBody(), "")));
	}

	/**
	 * Not refused by a limit. The answer may be an error for another reason.
	 */
	public HttpAnswerAssert isNotRefused() {
		return require(this.actual.status() != REFUSED, "Expected no refusal, but it was %s", this.actual);
	}

	/**
	 * Refused by a limit: 429.
	 */
	public HttpAnswerAssert isRefused() {
		return require(this.actual.status() == REFUSED, "Expected a refusal, but it was %s", this.actual);
	}

	/**
	 * Refused by the limit of this name, which the problem body has.
	 */
	public HttpAnswerAssert isRefusedBy(String limit) {
		isRefused();
		boolean named = Pattern.compile("\"limit\"\\s*:\\s*\"" + Pattern.quote(limit) + "\"")
			.matcher(this.actual.body())
			.find();
		return require(named, "Expected a refusal by limit '%s', but it was %s", limit, this.actual);
	}

	/**
	 * Limited by this policy, according to {@code X-RateLimit-Policy}.
	 */
	public HttpAnswerAssert hasPolicy(String policy) {
		return requireHeader("X-RateLimit-Policy", policy);
	}

	/**
	 * The permits that are left, according to {@code X-RateLimit-Remaining}.
	 */
	public HttpAnswerAssert hasRemaining(long remaining) {
		return requireHeader("X-RateLimit-Remaining", Long.toString(remaining));
	}

	/**
	 * Refused with a {@code Retry-After} of at least this time. It is in whole seconds
	 * and varies, so that callers do not come back all at once.
	 */
	public HttpAnswerAssert hasRetryAfterOfAtLeast(Duration wait) {
		isRefused();
		String after = this.actual.headers().apply("Retry-After");
		return require(after != null && Duration.ofSeconds(Long.parseLong(after)).compareTo(wait) >= 0,
				"Expected to retry after at least %s, but it was %s", wait, this.actual);
	}

	private HttpAnswerAssert requireHeader(String name, String value) {
		return require(value.equals(this.actual.headers().apply(name)), "Expected %s to be '%s', but it was %s", name,
				value, this.actual);
	}

	private HttpAnswerAssert require(boolean condition, String message, Object... arguments) {
		if (!condition) {
			failWithMessage(message, arguments);
		}
		return this;
	}

	/**
	 * An answer of either client.
	 *
	 * @param status status of HTTP
	 * @param headers gives the first header of a name, {@code null} if there is none
	 * @param body as text
	 */
	record Answer(int status, UnaryOperator<@Nullable String> headers, String body) {

		@Override
		public String toString() {
			StringBuilder text = new StringBuilder("status ").append(this.status);
			for (String name : new String[] { "X-RateLimit-Policy", "X-RateLimit-Remaining", "Retry-After" }) {
				String value = this.headers.apply(name);
				text.append((value != null) ? ", " + name + ": " + value : "");
			}
			return text.toString();
		}

	}

}
