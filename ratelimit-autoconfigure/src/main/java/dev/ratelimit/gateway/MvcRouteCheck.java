package dev.ratelimit.gateway;

import java.util.Map;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.server.mvc.common.MvcUtils;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.servlet.ServletDecisions;
import dev.ratelimit.web.servlet.ServletWebCall;

/**
 * Checks the requests of routes of the gateway on WebMVC, and lets them pass or answers.
 * Headers and the true cost are set when the response is committed, see
 * {@link dev.ratelimit.web.servlet.UrlLimitFilter}.
 */
final class MvcRouteCheck {

	private final CallCheck check;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	MvcRouteCheck(RateLimiter limiter, RequestResolver resolver, HttpAnswers answers, CallTrace.Source traces) {
		this.check = new CallCheck(resolver, limiter);
		this.answers = answers;
		this.traces = traces;
	}

	/**
	 * Checks a request against one filter of its route.
	 * @param next the filters behind it and the upstream
	 */
	ServerResponse filter(ServerRequest request, HandlerFunction<ServerResponse> next, String policy,
			@Nullable Long cost) throws Exception {
		HttpServletRequest servlet = request.servletRequest();
		CallDecisions decisions = ServletDecisions.of(servlet);
		CallCheck.Subject subject = new CallCheck.Subject(ServletWebCall.of(servlet, route(request)), policy, cost,
				Map.of(), decisions, null);
		// The limiter has a deadline, so this ends.
		Decision decision = this.check.decide(subject).join();
		if (decision.allowed() && !decisions.add(decision, CallDecisions.Edge.REQUEST, true)) {
			return next.handle(request);
		}
		CallTrace trace = this.traces.decided(decision, null);
		return decision.allowed() ? next.handle(request) : refuse(this.answers.answer(decision, trace.id()), decisions);
	}

	private static ServerResponse refuse(HttpAnswer answer, CallDecisions decisions) {
		decisions.giveBack();
		return ServerResponse.status(answer.status()).build((request, response) -> {
			ServletDecisions.refuse(answer, request, response);
			return null;
		});
	}

	private static @Nullable String route(ServerRequest request) {
		return request.attribute(MvcUtils.GATEWAY_ROUTE_ID_ATTR).map(Object::toString).orElse(null);
	}

}
