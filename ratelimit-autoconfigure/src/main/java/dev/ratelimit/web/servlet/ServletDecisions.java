package dev.ratelimit.web.servlet;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * Applies decisions to a servlet request.
 */
public final class ServletDecisions {

	private ServletDecisions() {
	}

	/**
	 * The decisions about a request.
	 */
	public static CallDecisions of(HttpServletRequest request) {
		CallDecisions decisions = (CallDecisions) request.getAttribute(CallDecisions.ATTRIBUTE);
		if (decisions == null) {
			decisions = new CallDecisions();
			request.setAttribute(CallDecisions.ATTRIBUTE, decisions);
		}
		return decisions;
	}

	/**
	 * Notes a decision on a method that lets the request pass. Without a
	 * {@link LimitedResponse}, which comes with {@link UrlLimitFilter}, it sets the
	 * headers of all decisions so far.
	 */
	public static void allow(Decision decision, CallDecisions.Edge edge, HttpServletRequest request,
			@Nullable HttpServletResponse response, HttpAnswers answers) {
		CallDecisions decisions = of(request);
		decisions.add(decision, edge, false);
		if (response != null && !response.isCommitted() && LimitedResponse.in(response) == null) {
			decisions.headers(answers).forEach(response::setHeader);
		}
	}

	/**
	 * Gives back the permits of earlier decisions, for a request that is refused.
	 */
	public static void giveBack(HttpServletRequest request) {
		CallDecisions decisions = (CallDecisions) request.getAttribute(CallDecisions.ATTRIBUTE);
		if (decisions != null) {
			decisions.giveBack();
		}
	}

	/**
	 * Refuses a request: answers it and gives back the permits of earlier decisions.
	 * @throws IOException if the caller is gone
	 */
	public static void refuse(HttpAnswer answer, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		giveBack(request);
		response.resetBuffer();
		response.setStatus(answer.status());
		answer.headers().forEach(response::setHeader);
		if (answer.body() != null) {
			byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
			response.setContentType(HttpAnswer.PROBLEM_JSON);
			response.setContentLength(body.length);
			response.getOutputStream().write(body);
			response.flushBuffer();
		}
	}

}
