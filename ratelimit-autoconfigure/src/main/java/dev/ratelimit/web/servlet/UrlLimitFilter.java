package dev.ratelimit.web.servlet;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.cors.CorsUtils;

import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.UrlCheck;
import dev.ratelimit.web.UrlLimit;

/**
 * Limits by URL on the servlet stack, and the place of {@link LimitedResponse}, which
 * writes headers and settles for annotations too. Must be registered for requests, and
 * the one after authentication for asynchronous dispatches, which may end a response.
 * Only requests are counted.
 */
public final class UrlLimitFilter implements Filter {

	private final UrlCheck check;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final CorsHeaders cors;

	private final boolean beforeAuthentication;

	/**
	 * Creates the filter.
	 * @param cors gives refused requests of other origins their headers
	 * @param beforeAuthentication whether another one follows after authentication
	 */
	public UrlLimitFilter(UrlCheck check, HttpAnswers answers, CallTrace.Source traces, CorsHeaders cors,
			boolean beforeAuthentication) {
		this.check = check;
		this.answers = answers;
		this.traces = traces;
		this.cors = cors;
		this.beforeAuthentication = beforeAuthentication;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (!(request instanceof HttpServletRequest http) || !(response instanceof HttpServletResponse answer)) {
			chain.doFilter(request, response);
			return;
		}
		LimitedResponse known = LimitedResponse.in(answer);
		if (http.getDispatcherType() != DispatcherType.REQUEST) {
			pass(http, answer, chain, known);
			return;
		}
		List<UrlLimit> entries = CorsUtils.isPreFlightRequest(http) ? List.of()
				: this.check.matching(ServletWebCall.of(http));
		if (known != null || (this.beforeAuthentication && entries.isEmpty())) {
			limit(entries, http, answer, chain, null);
			return;
		}
		LimitedResponse limited = new LimitedResponse(http, answer, this.answers);
		limit(entries, http, limited, chain, limited);
	}

	private void limit(List<UrlLimit> entries, HttpServletRequest request, HttpServletResponse response,
			FilterChain chain, @Nullable LimitedResponse limited) throws IOException, ServletException {
		if (entries.isEmpty() || !refuses(entries, request, response)) {
			pass(request, response, chain, limited);
		}
	}

	/**
	 * Lets a request pass.
	 * @param limited its response, which ends here unless the request is asynchronous;
	 * {@code null} if it ends elsewhere
	 */
	private static void pass(HttpServletRequest request, HttpServletResponse response, FilterChain chain,
			@Nullable LimitedResponse limited) throws IOException, ServletException {
		if (limited == null) {
			chain.doFilter(request, response);
			return;
		}
		Throwable failure = null;
		try {
			chain.doFilter(request, response);
		}
		catch (IOException | ServletException | RuntimeException | Error ex) {
			failure = ex;
			throw ex;
		}
		finally {
			if (failure == null && request.isAsyncStarted()) {
				limited.endLater();
			}
			else {
				limited.end(failure);
			}
		}
	}

	/** Answers a refused request. */
	private boolean refuses(List<UrlLimit> entries, HttpServletRequest request, HttpServletResponse response)
			throws IOException, ServletException {
		CallDecisions decisions = ServletDecisions.of(request);
		CallTrace trace = this.traces.find(null);
		// The limiter has a deadline, so this ends.
		HttpAnswer refusal = this.check.decide(entries, (route) -> ServletWebCall.of(request, route), decisions, trace)
			.join()
			.answer(this.answers, trace);
		if (refusal == null) {
			return false;
		}
		// Here: an origin that is not allowed gets the answer of CORS instead.
		decisions.giveBack();
		this.cors.write(request, response, () -> ServletDecisions.refuse(refusal, request, response));
		return true;
	}

}
