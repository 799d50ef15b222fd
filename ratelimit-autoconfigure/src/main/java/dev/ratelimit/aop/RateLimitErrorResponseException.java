package dev.ratelimit.aop;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.ErrorResponse;

import dev.ratelimit.Decision;
import dev.ratelimit.web.HttpAnswer;

/**
 * A call was refused in an application with HTTP. Has status, headers and problem
 * document, which handlers of the application may use or change.
 */
public final class RateLimitErrorResponseException extends RateLimitExceededException implements ErrorResponse {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitErrorResponseException.class);

	/** Created on demand: refusals must stay cheap. */
	private final transient SingletonSupplier<HttpAnswer> answer;

	private final transient SingletonSupplier<ProblemDetail> body;

	RateLimitErrorResponseException(Decision decision, boolean handler, Supplier<HttpAnswer> answer) {
		super(decision, handler);
		this.answer = SingletonSupplier.of(answer);
		this.body = SingletonSupplier.of(() -> problem(this.answer.obtain()));
	}

	@Override
	public HttpStatusCode getStatusCode() {
		return HttpStatusCode.valueOf(this.answer.obtain().status());
	}

	@Override
	public HttpHeaders getHeaders() {
		HttpHeaders headers = new HttpHeaders();
		this.answer.obtain().headers().forEach(headers::set);
		return headers;
	}

	@Override
	public ProblemDetail getBody() {
		return this.body.obtain();
	}

	private static ProblemDetail problem(HttpAnswer answer) {
		ProblemDetail body = ProblemDetail.forStatus(answer.status());
		HttpAnswer.Problem problem = answer.problem();
		((problem != null) ? problem.members() : Map.<String, Object>of()).forEach((name, value) -> {
			if (value != null) {
				set(body, name, value);
			}
		});
		return body;
	}

	/** A customizer may have chosen any value; one that cannot be used is left out. */
	private static void set(ProblemDetail body, String name, Object value) {
		try {
			switch (name) {
				case "type" -> body.setType(new URI(value.toString()));
				case "title" -> body.setTitle(value.toString());
				case "detail" -> body.setDetail(value.toString());
				case "instance" -> body.setInstance(new URI(value.toString()));
				case "status" -> {
				}
				default -> body.setProperty(name, value);
			}
		}
		catch (URISyntaxException ex) {
			logger.debug("Member '{}' of a problem document is left out because it is no URI", name);
		}
	}

}
