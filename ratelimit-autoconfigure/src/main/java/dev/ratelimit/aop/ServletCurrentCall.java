package dev.ratelimit.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.servlet.ServletDecisions;
import dev.ratelimit.web.servlet.ServletWebCall;

/**
 * The servlet request that a thread works for.
 *
 * @param attributes hold request and response
 */
record ServletCurrentCall(ServletRequestAttributes attributes) implements CurrentCall {

	static final CurrentCall.Source SOURCE = new CurrentCall.Source(ServletCurrentCall::find, false);

	private static @Nullable CurrentCall find() {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)
				? new ServletCurrentCall(attributes) : null;
	}

	@Override
	public WebCall facts() {
		return ServletWebCall.of(this.attributes.getRequest());
	}

	@Override
	public CallDecisions decisions(HttpAnswers answers) {
		return ServletDecisions.of(this.attributes.getRequest());
	}

	@Override
	public void announce(Decision decision, CallDecisions.Edge edge, HttpAnswers answers) {
		ServletDecisions.allow(decision, edge, this.attributes.getRequest(), this.attributes.getResponse(), answers);
	}

}
