package dev.ratelimit.web.servlet;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.cors.CorsUtils;

import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.UrlCheck;
import dev.ratelimit.web.UrlLimit;

/**
 * Limits by URL on the servlet stack. Must be registered for requests only: error, async
 * and forward dispatches are not counted again.
 */
public final class UrlLimitFilter implements Filter {

	private final UrlCheck check;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final CorsHeaders cors;

	/**
	 * Creates the filter.
	 * @param cors gives refused requests of other origins their headers
	 */
	public UrlLimitFilter(UrlCheck check, HttpAnswers answers, CallTrace.Source traces, CorsHeaders cors) {
		this.check = check;
		this.answers = answers;
		this.traces = traces;
		this.cors = cors;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (!(request instanceof HttpServletRequest http) || !(response instanceof HttpServletResponse answer)
				|| !refuses(http, answer)) {
			chain.doFilter(request, response);
		}
	}

	/** Answers a refused request. */
	private boolean refuses(HttpServletRequest request, HttpServletResponse response)
			throws IOException, ServletException {
		List<UrlLimit> entries = this.check.matching(ServletWebCall.of(request));
		if (entries.isEmpty() || CorsUtils.isPreFlightRequest(request)) {
			return false;
		}
		CallDecisions decisions = ServletDecisions.of(request);
		CallTrace trace = this.traces.find(null);
		// The limiter has a deadline, so this ends.
		HttpAnswer refusal = this.check.decide(entries, (route) -> ServletWebCall.of(request, route), decisions, trace)
			.join()
			.answer(this.answers, trace);
		if (refusal == null) {
			ServletDecisions.announce(decisions, response, this.answers);
			return false;
		}
		// Here: an origin that is not allowed gets the answer of CORS instead.
		decisions.giveBack();
		this.cors.write(request, response, () -> ServletDecisions.refuse(refusal, request, response));
		return true;
	}

}
